import { agentToolEntries } from '#libs/executor';
import type { AgentReferences } from '#libs/process';
import { isJsonObject, type JsonValue } from '#libs/protocol';
import { innerNodes } from './named-workflows.js';
import type { WorkflowDefinition } from './workflow.js';
import { fault, type WorkflowProblem } from './workflow-problem.js';

/** Where the agents that a definition names are looked up. */
export interface NamedAgents {
  references: Pick<AgentReferences, 'problemOf'>;
  tenant: string;
  /** Names of workflows that are saved together with the definition. */
  together?: ReadonlySet<string>;
}

/** An agent that an `agent` node names as a tool. */
interface NamedAgent {
  reference: string;
  /** For example `nodes[2].config.tools[0]`. */
  path: string;
  /** The node of the definition itself that names it, or that the naming node stands in. */
  node: string;
}

/**
 * Finds tools that are to be agents of this service, and are not there. Agents elsewhere, and nodes of the definition
 * itself, are not looked at.
 */
export async function unknownAgentTools(
  { name, nodes }: WorkflowDefinition,
  { references, tenant, together }: NamedAgents,
): Promise<WorkflowProblem[]> {
  const named = [...nodes.entries()].flatMap(([index, node]) =>
    namedIn(node, `nodes[${index}].config`).map((it) => ({ ...it, node: node.id })),
  );
  const problems: WorkflowProblem[] = [];
  const isSaved = (workflow: string): boolean => workflow !== name && !together?.has(workflow);
  for (const { reference, path, node } of named.filter((it) => isSaved(workflowOf(it.reference)))) {
    const problem = await references.problemOf(reference, tenant);
    if (problem !== undefined)
      problems.push(fault('UNKNOWN_AGENT', path, `agent node "${node}": ${problem}`, { node }));
  }
  return problems;
}

function namedIn(node: { type?: JsonValue; config?: JsonValue }, place: string): Omit<NamedAgent, 'node'>[] {
  const { type, config } = node;
  if (!isJsonObject(config)) return [];
  const inner = innerNodes(config.body).flatMap((it, index) =>
    isJsonObject(it) ? namedIn(it, `${place}.body.nodes[${index}].config`) : [],
  );
  if (type !== 'agent') return inner;
  return agentToolEntries(config.tools).flatMap(({ index, reference }) => {
    return /^https?:/i.test(reference) ? [] : [{ reference, path: `${place}.tools[${index}]` }];
  });
}

/** Returns the name of the workflow that a reference means, if it means one. */
function workflowOf(reference: string): string {
  const path = reference.replace(/^\/?(a2a\/)?/, '').replace(/\/$/, '');
  const [, name = path] = /^workflows\/([^/]+)/.exec(path) ?? [];
  return name;
}
