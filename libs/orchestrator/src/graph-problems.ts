import { RANGES } from './ranges.js';
import { exitProblems } from './run-rules.js';
import type { WorkflowDefinition } from './workflow.js';
import { InvalidWorkflow, WorkflowGraph } from './workflow-graph.js';
import { errorProblem, type WorkflowProblem } from './workflow-problem.js';

/** Returns the graph of a definition, or its problems. */
export function buildGraphOrProblems(definition: WorkflowDefinition): WorkflowGraph | WorkflowProblem[] {
  const references = [
    ...duplicateProblems(definition),
    ...edgeProblems(definition),
    ...exitProblems(definition),
    ...loopCountProblems(definition),
  ];
  return references.length > 0 ? references : tryBuildGraph(definition);
}

function duplicateProblems({ nodes }: WorkflowDefinition): WorkflowProblem[] {
  const seen = new Set<string>();
  return [...nodes.entries()].flatMap(([index, { id }]) => {
    if (seen.has(id))
      return [
        errorProblem('DUPLICATE_NODE', `nodes[${index}].id`, prefixBuildFault(`duplicate node ID: ${id}`), {
          node: id,
        }),
      ];
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
        const detail = prefixBuildFault(`edge references unknown node: ${edge[end]}`);
        return errorProblem('UNKNOWN_NODE', `edges[${index}].${end}`, detail, { edge: index });
      }),
  );
}

/** Checks the number of loops, whose limit is lower than that of edges: the body of each loop is examined. */
function loopCountProblems({ edges }: WorkflowDefinition): WorkflowProblem[] {
  const [, most] = RANGES.loops;
  const beyond = edges.entries().filter(([, { loop }]) => loop !== undefined);
  const [found] = beyond.drop(most).next().value ?? [];
  if (found === undefined) return [];
  const detail = `a workflow has at most ${most} edges back`;
  return [errorProblem('INVALID_LOOP', `edges[${found}]`, detail, { edge: found })];
}

function tryBuildGraph(definition: WorkflowDefinition): WorkflowGraph | WorkflowProblem[] {
  try {
    return WorkflowGraph.buildValid(definition);
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    const { code, edge } = error.fault;
    const place = edge === undefined ? {} : { edge };
    return [errorProblem(code, edge === undefined ? 'edges' : `edges[${edge}]`, error.message, place)];
  }
}

/** Formats a fault as a run reports it. */
function prefixBuildFault(text: string): string {
  return `build DAG: ${text}`;
}
