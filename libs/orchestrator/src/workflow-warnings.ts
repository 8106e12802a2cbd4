import type { NodeTypes } from '#libs/executor';
import { templateKey } from './node-templates.js';
import { templateProblems } from './template-problems.js';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';
import type { WorkflowGraph } from './workflow-graph.js';
import { warning, type WorkflowProblem } from './workflow-problem.js';

/** What the author of a definition without errors is told of. */
export function workflowWarnings(
  definition: WorkflowDefinition,
  graph: WorkflowGraph,
  nodeTypes: NodeTypes,
): WorkflowProblem[] {
  const nodes = [...definition.nodes.entries()];
  return [
    ...nodes.flatMap(([index, node]) => strangeKeys(index, node, nodeTypes)),
    ...nodes.flatMap(([index, node]) => loneliness(index, node, graph)),
    ...nodes.flatMap(([index, node]) => silence(index, node, graph)),
    ...templateProblems(definition, graph),
  ];
}

/** Nodes of all types may be described. */
const COMMON_KEY = 'description';
const MOST_KEYS = 10;

function strangeKeys(index: number, { id, type, config }: WorkflowNode, nodeTypes: NodeTypes): WorkflowProblem[] {
  const known = nodeTypes.keys(type);
  if (known === undefined) return [];
  const strange = Object.keys(config).filter((key) => key !== COMMON_KEY && !known.includes(key));
  return strange.slice(0, MOST_KEYS).map((key) => {
    const shown = key.slice(0, 64);
    const detail = `${type} node "${id}": unknown config key "${shown}" (known: ${[...known, COMMON_KEY].join(', ')})`;
    return warning('UNKNOWN_CONFIG_KEY', `nodes[${index}].config.${shown}`, detail, { node: id });
  });
}

/** A node that no edge leads to or from, among others. */
function loneliness(index: number, { id, type }: WorkflowNode, graph: WorkflowGraph): WorkflowProblem[] {
  const alone = graph.incoming(id).length === 0 && graph.outgoing(id).length === 0;
  if (!alone || graph.order.length === 1) return [];
  const detail = `${type} node "${id}" is connected to no other node`;
  return [warning('UNCONNECTED', `nodes[${index}]`, detail, { node: id })];
}

/** A node that nobody says anything to: where the workflow has inputs, a caller's text goes to them alone. */
function silence(index: number, { id, type, config }: WorkflowNode, graph: WorkflowGraph): WorkflowProblem[] {
  if (['input', 'tool'].includes(type) || graph.incoming(id).length > 0 || !graph.hasInputs) return [];
  const text = config[templateKey(type)];
  if (typeof text === 'string' && text !== '') return [];
  const detail = `${type} node "${id}" has neither a ${templateKey(type)} nor a node before it: it is sent an empty text`;
  return [warning('NO_MESSAGE', `nodes[${index}]`, detail, { node: id })];
}
