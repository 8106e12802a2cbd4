import type { NodeTypes } from '#libs/executor';
import { InputSchema, InvalidInputSchema, SharedUse } from '#libs/expressions';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';
import { InvalidWorkflow, WorkflowGraph } from './workflow-graph.js';
import { fault, type WorkflowProblem } from './workflow-problem.js';
import { workflowWarnings } from './workflow-warnings.js';

/** What names of workflows and ids of nodes look like. */
export const WORKFLOW_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

const NAME_RULE = 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen';

/** A caller reads no more. */
const MOST_PROBLEMS = 100;

/**
 * What is wrong with a definition, one entry per problem, at most 100: for its errors it is refused at save, of warnings
 * its author is told. Warnings are looked for where there is no error.
 */
export function workflowProblems(definition: WorkflowDefinition, nodeTypes: NodeTypes): WorkflowProblem[] {
  const references = [...duplicateProblems(definition), ...edgeProblems(definition)];
  const graph = references.length > 0 ? references : graphOf(definition);
  const errors = [
    ...namingProblems(definition),
    ...(graph instanceof WorkflowGraph ? [] : graph),
    ...configProblems(definition, nodeTypes),
  ];
  const found =
    errors.length === 0 && graph instanceof WorkflowGraph ? workflowWarnings(definition, graph, nodeTypes) : errors;
  return found.slice(0, MOST_PROBLEMS);
}

function namingProblems({ name, nodes }: WorkflowDefinition): WorkflowProblem[] {
  const problems: WorkflowProblem[] = [];
  if (!WORKFLOW_NAME.test(name)) problems.push(fault('INVALID_NAME', 'name', `name ${NAME_RULE}`));
  if (nodes.length === 0) problems.push(fault('NO_NODES', 'nodes', 'a workflow needs at least one node'));
  for (const [index, { id }] of nodes.entries()) {
    if (!WORKFLOW_NAME.test(id)) problems.push(fault('INVALID_NAME', `nodes[${index}].id`, `node id ${NAME_RULE}`));
  }
  return problems;
}

function duplicateProblems({ nodes }: WorkflowDefinition): WorkflowProblem[] {
  const seen = new Set<string>();
  return [...nodes.entries()].flatMap(([index, { id }]) => {
    if (seen.has(id))
      return [fault('DUPLICATE_NODE', `nodes[${index}].id`, reported(`duplicate node ID: ${id}`), { node: id })];
    seen.add(id);
    return [];
  });
}

function edgeProblems({ nodes, edges }: WorkflowDefinition): WorkflowProblem[] {
  const ids = new Set(nodes.map((node) => node.id));
  return [...edges.entries()].flatMap(([index, edge]) =>
    (['from', 'to'] as const)
      .filter((end) => !ids.has(edge[end]))
      .map((end) => {
        const detail = reported(`edge references unknown node: ${edge[end]}`);
        return fault('UNKNOWN_NODE', `edges[${index}].${end}`, detail, { edge: index });
      }),
  );
}

function configProblems({ nodes }: WorkflowDefinition, nodeTypes: NodeTypes): WorkflowProblem[] {
  const use = new SharedUse();
  return [...nodes.entries()].flatMap(([index, node]) =>
    [...descriptionProblems(node), ...inputProblems(node, use), ...nodeTypes.problems(node, use)].map((detail) =>
      fault(nodeTypes.names.includes(node.type) ? 'INVALID_CONFIG' : 'UNKNOWN_TYPE', `nodes[${index}]`, detail, {
        node: node.id,
      }),
    ),
  );
}

/** Nodes of all types may be described; it is what their cards say. */
function descriptionProblems({ id, type, config: { description } }: WorkflowNode): string[] {
  if (description === undefined || typeof description === 'string') return [];
  return [`${type} node "${id}": description must be a string`];
}

/** What an `input` node asks of its input: whether it can be asked, and whether its own default fulfils it. */
function inputProblems({ id, type, config }: WorkflowNode, use: SharedUse): string[] {
  if (type !== 'input') return [];
  const { schema, optional } = config;
  const said = `input node "${id}":`;
  const wrong = optional === undefined || typeof optional === 'boolean' ? [] : [`${said} optional must be a boolean`];
  if (schema === undefined) return wrong;
  try {
    const rules = InputSchema.of(schema, use);
    const faults = config['default'] === undefined ? [] : rules.faults(config['default'], use);
    return [...wrong, ...faults.map(({ path, detail }) => `${said} default${path} ${detail}`)];
  } catch (error) {
    if (!(error instanceof InvalidInputSchema)) throw error;
    return [...wrong, `${said} schema ${error.message}`];
  }
}

function graphOf(definition: WorkflowDefinition): WorkflowGraph | WorkflowProblem[] {
  try {
    return WorkflowGraph.build(definition);
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    const { code, edge } = error.fault;
    return [
      fault(code, edge === undefined ? 'edges' : `edges[${edge}]`, error.message, edge === undefined ? {} : { edge }),
    ];
  }
}

/** As a run says it that meets the same fault. */
function reported(text: string): string {
  return `build DAG: ${text}`;
}
