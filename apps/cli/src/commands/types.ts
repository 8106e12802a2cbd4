import type { Command } from 'commander';
import { readDefinition, WorkflowGraph } from '#libs/workflow-definition';
import { exampleText } from '../examples.js';
import { CommandError, EXIT } from '../exit-code.js';
import { savedWorkflows } from '../saved-workflows.js';
import type { Session } from '../session.js';
import { readFolder } from '../workflow-files.js';
import { workflowTypes } from '../workflow-types.js';

/** Adds the command `types`, which prints TypeScript types of workflows for the typed client. */
export function addTypes(program: Command, session: Session): void {
  program
    .command('types')
    .description('print the inputs and outputs of workflows as TypeScript, for the typed client')
    .option('-f, --folder <folder>', 'workflows of this folder; default: those of the service')
    .addHelpText(
      'after',
      exampleText('parley types > src/workflows.ts', 'parley types -f workflows > src/workflows.ts'),
    )
    .action((options: { folder?: string }) => printTypes(session, options));
}

async function printTypes(session: Session, { folder }: { folder?: string }): Promise<void> {
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
