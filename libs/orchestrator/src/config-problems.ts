import { agentToolEntries, type NodeProblem, type NodeTypes } from '#libs/executor';
import { InputSchema, InvalidInputSchema, type SharedUse } from '#libs/expressions';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';
import { errorProblem, type WorkflowProblem } from './workflow-problem.js';

/**
 * Returns the problems with the types of nodes and with their configs.
 * @param use counters of the workflow
 */
export function findConfigProblems(
  { name, nodes }: WorkflowDefinition,
  nodeTypes: NodeTypes,
  use: SharedUse,
): WorkflowProblem[] {
  return [...nodes.entries()].flatMap(([index, node]) =>
    [
      ...descriptionProblems(node),
      ...inputProblems(node, use),
      ...nodeTypes.findProblems(node, use),
      ...selfCallProblems(name, node),
    ].map((problem) => {
      const code = nodeTypes.names.includes(node.type) ? 'INVALID_CONFIG' : 'UNKNOWN_TYPE';
      const { path, detail } = typeof problem === 'string' ? { path: '', detail: problem } : problem;
      return errorProblem(code, `nodes[${index}]${path && `.${path}`}`, detail, { node: node.id });
    }),
  );
}

/** Checks the description, which nodes of all types may have for their cards. */
function descriptionProblems({ id, type, config: { description } }: WorkflowNode): NodeProblem[] {
  if (description === undefined || typeof description === 'string') return [];
  return [{ path: 'config.description', detail: `${type} node "${id}": description must be a string` }];
}

/** Rejects tools by which an agent would call itself, or the workflow that it is a node of. */
function selfCallProblems(workflow: string, { id, type, config }: WorkflowNode): NodeProblem[] {
  if (type !== 'agent') return [];
  const own = [workflow, `workflows/${workflow}`, `workflows/${workflow}/nodes/${id}`];
  const entries = agentToolEntries(config['tools']).filter(({ reference }) => own.includes(readAgentPath(reference)));
  return entries.map(({ index }) => ({
    path: `config.tools[${index}]`,
    detail: `agent node "${id}": tools[${index}] must not be the node itself, or its own workflow`,
  }));
}

/** Returns a reference to an agent of this service as a path below `/a2a`. */
function readAgentPath(reference: string): string {
  return reference.replace(/^\/?(a2a\/)?/, '').replace(/\/$/, '');
}

/** Checks an `input` node: `optional`, its schema, and its default against the schema. */
function inputProblems({ id, type, config }: WorkflowNode, use: SharedUse): NodeProblem[] {
  if (type !== 'input') return [];
  const { schema, optional } = config;
  const createInputProblem = (member: string, rule: string, at = ''): NodeProblem => ({
    path: `config.${member}${at}`,
    detail: `input node "${id}": ${member}${at} ${rule}`,
  });
  const wrong =
    optional === undefined || typeof optional === 'boolean'
      ? []
      : [createInputProblem('optional', 'must be a boolean')];
  if (schema === undefined) return wrong;
  try {
    const rules = InputSchema.fromJson(schema, use);
    const faults = config['default'] === undefined ? [] : rules.faults(config['default'], use);
    return [...wrong, ...faults.map(({ path, detail }) => createInputProblem('default', detail, path))];
  } catch (error) {
    if (!(error instanceof InvalidInputSchema)) throw error;
    return [...wrong, createInputProblem('schema', error.message)];
  }
}
