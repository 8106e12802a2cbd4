import { type NodeTypes, SharedUse } from '#libs/executor';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';
import { InvalidWorkflow, WorkflowGraph } from './workflow-graph.js';

/** One thing that is wrong with a definition. */
export interface WorkflowProblem {
  /** Where, for example `nodes[2].id`. */
  path: string;
  message: string;
}

/** What names of workflows and ids of nodes look like. */
export const WORKFLOW_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

const NAME_RULE = 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen';

/** A caller reads no more. */
const MOST_PROBLEMS = 100;

/** For what a definition is refused at save, one entry per problem, at most 100; empty where it may be saved. */
export function workflowProblems(definition: WorkflowDefinition, nodeTypes: NodeTypes): WorkflowProblem[] {
  const references = [...duplicateProblems(definition), ...edgeProblems(definition)];
  const problems = [
    ...namingProblems(definition),
    ...(references.length > 0 ? references : cycleProblems(definition)),
    ...configProblems(definition, nodeTypes),
  ];
  return problems.slice(0, MOST_PROBLEMS);
}

function namingProblems({ name, nodes }: WorkflowDefinition): WorkflowProblem[] {
  const problems: WorkflowProblem[] = [];
  if (!WORKFLOW_NAME.test(name)) problems.push({ path: 'name', message: `name ${NAME_RULE}` });
  if (nodes.length === 0) problems.push({ path: 'nodes', message: 'a workflow needs at least one node' });
  for (const [index, { id }] of nodes.entries()) {
    if (!WORKFLOW_NAME.test(id)) problems.push({ path: `nodes[${index}].id`, message: `node id ${NAME_RULE}` });
  }
  return problems;
}

function duplicateProblems({ nodes }: WorkflowDefinition): WorkflowProblem[] {
  const seen = new Set<string>();
  return [...nodes.entries()].flatMap(([index, { id }]) => {
    if (seen.has(id)) return [dagProblem(`nodes[${index}].id`, `duplicate node ID: ${id}`)];
    seen.add(id);
    return [];
  });
}

function edgeProblems({ nodes, edges }: WorkflowDefinition): WorkflowProblem[] {
  const ids = new Set(nodes.map((node) => node.id));
  return [...edges.entries()].flatMap(([index, edge]) =>
    (['from', 'to'] as const)
      .filter((end) => !ids.has(edge[end]))
      .map((end) => dagProblem(`edges[${index}].${end}`, `edge references unknown node: ${edge[end]}`)),
  );
}

function configProblems({ nodes }: WorkflowDefinition, nodeTypes: NodeTypes): WorkflowProblem[] {
  const use = new SharedUse();
  return [...nodes.entries()].flatMap(([index, node]) =>
    [...descriptionProblems(node), ...nodeTypes.problems(node, use)].map((message) => ({
      path: `nodes[${index}]`,
      message,
    })),
  );
}

/** Nodes of all types may be described; it is what their cards say. */
function descriptionProblems({ id, type, config: { description } }: WorkflowNode): string[] {
  if (description === undefined || typeof description === 'string') return [];
  return [`${type} node "${id}": description must be a string`];
}

function cycleProblems(definition: WorkflowDefinition): WorkflowProblem[] {
  try {
    WorkflowGraph.build(definition);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    return [{ path: 'edges', message: error.message }];
  }
}

function dagProblem(path: string, fault: string): WorkflowProblem {
  return { path, message: new InvalidWorkflow(fault).message };
}
