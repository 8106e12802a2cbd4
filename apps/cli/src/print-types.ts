import { readDefinition, WorkflowGraph } from '#libs/workflow-definition';
import { CommandError, EXIT } from './exit-code.js';
import { savedWorkflows } from './saved-workflows.js';
import type { Session } from './session.js';
import { readFolder } from './workflow-files.js';
import { workflowTypes } from './workflow-types.js';

/** Prints the types of the workflows of a folder, or of the service. */
export async function printTypes(session: Session, { folder }: { folder?: string }): Promise<void> {
  const definitions: Written[] =
    folder === undefined
      ? (await savedWorkflows(session)).map((it) => ({ ...it }))
      : folderDefinitions(session, folder);
  const types = workflowTypes(definitions.map(readGraph));
  session.terminal.writeResult({ types }, () => types.trimEnd());
}

/**
 * Workflow from a file or from the service. A workflow from the service also has members that only the service sets,
 * such as `revision`.
 */
interface Written extends Record<string, unknown> {
  name: string;
}

function folderDefinitions({ terminal }: Session, folder: string): Written[] {
  return readFolder(folder, terminal.env).workflows.map(({ definition }) => definition);
}

/** Returns the graph of a workflow. @throws CommandError that lists the faults of an invalid workflow */
function readGraph({
  revision: _revision,
  createdAt: _created,
  updatedAt: _updated,
  ...written
}: Written): WorkflowGraph {
  const definition = readDefinition(written);
  const faults = Array.isArray(definition) ? definition.map(({ detail }) => detail) : [];
  const graph = Array.isArray(definition) ? undefined : WorkflowGraph.fromDefinition(definition);
  if (graph?.fault) faults.push(graph.fault.message);
  if (graph === undefined || faults.length > 0)
    throw new CommandError(`${written.name}: ${faults.join('; ')}`, EXIT.differs);
  return graph;
}
