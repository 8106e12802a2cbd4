import type { GraphEdge } from '../graph-edge.js';
import type { WorkflowNode } from '../workflow.js';
import { FailedExpression } from './failed-expression.js';

/** Which of the edges from one node are taken, by their places in `edges`. */
export interface EdgeChoice {
  taken: number[];
  /** The conditions that could not be decided: their edges are not taken. */
  errors: { edge: number; message: string }[];
}

/**
 * Chooses among edges that are for the same outcome of a node: each whose condition holds, or only the first one; there an
 * edge without a condition is tried last.
 * @param holds asked of edges with a condition, in their order
 */
export function chooseEdges(
  edges: readonly GraphEdge[],
  branch: WorkflowNode['branch'],
  holds: (edge: GraphEdge) => boolean,
): EdgeChoice {
  const choice: EdgeChoice = { taken: [], errors: [] };
  const isTaken = (edge: GraphEdge): boolean => {
    if (edge.edge.when === undefined) return true;
    try {
      return holds(edge);
    } catch (error) {
      if (!(error instanceof FailedExpression)) throw error;
      choice.errors.push({ edge: edge.index, message: error.message });
      return false;
    }
  };
  if (branch !== 'first') choice.taken.push(...edges.filter(isTaken).map(({ index }) => index));
  else {
    const first = edges.toSorted((one, other) => order(one) - order(other)).find(isTaken);
    if (first) choice.taken.push(first.index);
  }
  return choice;
}

function order({ edge: { when } }: GraphEdge): number {
  return when === undefined ? 1 : 0;
}
