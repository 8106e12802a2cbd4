import type { GraphEdge } from './graph-edge.js';
import type { NodeRun } from './node-run.js';
import type { UnitEdge } from './regions.js';
import type { UnitRun } from './scope.js';
import type { WorkflowGraph } from './workflow-graph.js';

type Outcome = 'completed' | 'failed';

/** Edges out of a loop that hang on how one instance of its last iteration ended. */
export interface LeavingChoice {
  readonly node: NodeRun;
  readonly outcome: Outcome;
  readonly edges: readonly GraphEdge[];
  /** Those of them that were taken when the instance failed: nothing is left to choose then. */
  readonly taken?: readonly number[];
}

/** The edges that may be taken when a node ends so; `undefined` where nothing is chosen, as none of its edges has a condition. */
export function choices(graph: WorkflowGraph, node: NodeRun, outcome: Outcome): readonly GraphEdge[] | undefined {
  const unit = graph.regions.unit(node.id);
  if (unit === undefined || node.list !== undefined || !graph.chooses(node.id)) return undefined;
  // What takes care of a failure does so at once, also from within a loop; anything else leaves a loop at its end.
  const edges = outcome === 'failed' ? [...unit.outgoing, ...unit.leaving] : unit.outgoing;
  return edges.filter((edge) => isFor(edge, outcome));
}

/**
 * What is chosen at the end of a loop.
 * @param fails whether the loop fails by itself, which is a failure of its last node
 */
export function leavingChoices(graph: WorkflowGraph, run: UnitRun, fails: boolean): LeavingChoice[] {
  const { inner, unit, loop } = run;
  const failing = fails ? loop?.loop.from : undefined;
  const sources = new Set([...unit.outgoing.map(({ from }) => from), ...(failing === undefined ? [] : [failing])]);
  return [...sources].flatMap((id): LeavingChoice[] => {
    const last = inner?.last(id);
    const { node, outcome } = last ?? {};
    if (node === undefined || !graph.chooses(id)) return [];
    const own = unit.outgoing.filter(({ from }) => from === id);
    if (id === failing) return choice(node, 'failed', [...own, ...unit.leaving.filter(({ from }) => from === id)]);
    if (outcome === 'completed') return choice(node, outcome, own);
    return outcome === 'failed' ? choice(node, outcome, own, node.taken ?? []) : [];
  });
}

function choice(node: NodeRun, outcome: Outcome, all: readonly UnitEdge[], taken?: readonly number[]): LeavingChoice[] {
  const edges = all.filter((edge) => isFor(edge, outcome));
  if (edges.length === 0) return [];
  return [
    { node, outcome, edges, ...(taken && { taken: taken.filter((at) => edges.some(({ index }) => index === at)) }) },
  ];
}

function isFor({ edge: { on = 'success' } }: GraphEdge, outcome: Outcome): boolean {
  return on === 'always' || (on === 'success') === (outcome === 'completed');
}
