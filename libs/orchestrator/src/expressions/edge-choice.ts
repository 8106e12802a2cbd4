import type { GraphEdge } from '../graph-edge.js';
import type { WorkflowNode } from '../workflow.js';
import { FailedExpression } from './failed-expression.js';

/** Edges from one node that are taken, by their indexes in `edges`. */
export interface EdgeChoice {
  taken: number[];
  /** Conditions that could not be evaluated: their edges are not taken. */
  errors: { edge: number; message: string }[];
}

/**
 * Chooses among the edges for the same outcome of a node: all whose condition holds, or only the first. To find the
 * first, edges without a condition are tried last.
 * @param holds evaluates the condition of an edge; called in the order of the edges
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
    const first = edges.toSorted((one, other) => rankEdge(one) - rankEdge(other)).find(isTaken);
    if (first) choice.taken.push(first.index);
  }
  return choice;
}

function rankEdge({ edge: { when } }: GraphEdge): number {
  return when === undefined ? 1 : 0;
}
