import { MemberProblems } from './member-problems.js';
import { RANGES } from './ranges.js';
import type { OutcomeFilter, WorkflowDefinition, WorkflowEdge } from './workflow.js';
import type { WorkflowGraph } from './workflow-graph.js';
import type { WorkflowProblem } from './workflow-problem.js';

/** Returns the problems of single edges. */
export function findEdgeProblems({ edges }: WorkflowDefinition): WorkflowProblem[] {
  return [...edges.entries()].flatMap(([index, edge]) => {
    const { loop, when, on } = edge;
    if (loop === undefined) return [];
    const own = 'says nothing of an edge back: loop.exit_when says when it ends';
    return createEdgeProblems(edge, index)
      .checkWholeNumber('loop.max_iterations', loop.max_iterations, RANGES.max_iterations)
      .checkPause('loop.delay', loop.delay)
      .checkThat(when === undefined, 'INVALID_LOOP', 'when', own)
      .checkThat(on === undefined, 'INVALID_LOOP', 'on', own).found;
  });
}

/** Returns the problems of all edges from a node together, and of the number of edges to a node. */
export function findBranchProblems(graph: WorkflowGraph): WorkflowProblem[] {
  return [...graph.definition.nodes.entries()].flatMap(([index, { id, type, branch, join }]) => {
    const problems = new MemberProblems({ path: `nodes[${index}]`, said: `${type} node "${id}": `, node: id });
    const most = graph.incoming(id).length;
    if (typeof join === 'object') {
      const isPossible = Number.isInteger(join.n) && join.n >= 1 && join.n <= most;
      const rule = `must be a whole number from 1 to ${most}, of how many edges lead to it`;
      problems.checkThat(
        isPossible,
        'INVALID_JOIN',
        'join.n',
        most === 0 ? 'counts edges, and none leads to it' : rule,
      );
    }
    return [...problems.found, ...(branch === 'first' ? findElseProblems(graph, id) : [])];
  });
}

/** Reports a second edge without `when` for the same outcome: only one edge may be the else. */
function findElseProblems(graph: WorkflowGraph, id: string): WorkflowProblem[] {
  const others = graph.outgoing(id).filter(({ edge }) => edge.when === undefined);
  const second = (['success', 'failure'] as const)
    .map((outcome) => others.filter(({ edge }) => isFor(edge, outcome))[1])
    .find((edge) => edge !== undefined);
  if (second === undefined) return [];
  const rule = `has no "when", nor has another edge from "${id}": of a branch that takes the first, one edge is the else`;
  return createEdgeProblems(second.edge, second.index).checkThat(false, 'INVALID_BRANCH', 'when', rule).found;
}

function isFor({ on = 'success' }: WorkflowEdge, outcome: OutcomeFilter): boolean {
  return on === outcome || on === 'always';
}

function createEdgeProblems({ from, to }: WorkflowEdge, index: number): MemberProblems {
  return new MemberProblems({ path: `edges[${index}]`, said: `edge from "${from}" to "${to}": `, edge: index });
}
