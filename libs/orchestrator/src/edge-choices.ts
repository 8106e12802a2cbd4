import type { GraphEdge } from './graph-edge.js';
import type { NodeInstance } from './node-run.js';
import type { UnitEdge } from './regions.js';
import type { UnitState } from './scope.js';
import type { WorkflowGraph } from './workflow-graph.js';

type ChoosingOutcome = 'completed' | 'failed';

/** Edges out of a loop that depend on how one instance of its last iteration ended. */
export interface LeavingChoice {
  readonly node: NodeInstance;
  readonly outcome: ChoosingOutcome;
  readonly edges: readonly GraphEdge[];
  /** Edges that were taken when the instance failed. There is nothing left to choose then. */
  readonly taken?: readonly number[];
}

/** Returns the edges that may be taken when a node ends with this outcome; `undefined` if none has a condition. */
export function listEdgeChoices(
  graph: WorkflowGraph,
  node: NodeInstance,
  outcome: ChoosingOutcome,
): readonly GraphEdge[] | undefined {
  const unit = graph.regions.findUnit(node.id);
  if (unit === undefined || node.list !== undefined || !graph.hasChoice(node.id)) return undefined;
  // Edges that handle a failure are taken at once, even out of a loop. All others leave a loop at its end.
  const edges = outcome === 'failed' ? [...unit.outgoing, ...unit.leaving] : unit.outgoing;
  return edges.filter((edge) => isFor(edge, outcome));
}

/**
 * Returns the choices to make at the end of a loop.
 * @param fails true if the loop fails itself, which is a failure of its last node
 */
export function listLeavingChoices(graph: WorkflowGraph, run: UnitState, fails: boolean): LeavingChoice[] {
  const { inner, unit, loop } = run;
  const failing = fails ? loop?.loop.from : undefined;
  const sources = new Set([...unit.outgoing.map(({ from }) => from), ...(failing === undefined ? [] : [failing])]);
  return [...sources].flatMap((id): LeavingChoice[] => {
    const last = inner?.latestOf(id);
    const { node, outcome } = last ?? {};
    if (node === undefined || !graph.hasChoice(id)) return [];
    const own = unit.outgoing.filter(({ from }) => from === id);
    if (id === failing)
      return createLeavingChoice(node, 'failed', [...own, ...unit.leaving.filter(({ from }) => from === id)]);
    if (outcome === 'completed') return createLeavingChoice(node, outcome, own);
    return outcome === 'failed' ? createLeavingChoice(node, outcome, own, node.taken ?? []) : [];
  });
}

function createLeavingChoice(
  node: NodeInstance,
  outcome: ChoosingOutcome,
  all: readonly UnitEdge[],
  taken?: readonly number[],
): LeavingChoice[] {
  const edges = all.filter((edge) => isFor(edge, outcome));
  if (edges.length === 0) return [];
  return [
    { node, outcome, edges, ...(taken && { taken: taken.filter((at) => edges.some(({ index }) => index === at)) }) },
  ];
}

function isFor({ edge: { on = 'success' } }: GraphEdge, outcome: ChoosingOutcome): boolean {
  return on === 'always' || (on === 'success') === (outcome === 'completed');
}
