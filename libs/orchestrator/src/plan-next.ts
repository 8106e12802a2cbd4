import type { NodeRun } from './node-run.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** `input-required`: nothing can go on before a caller answers a waiting node. */
export type RunOutcome = 'completed' | 'failed' | 'input-required';

export interface Plan {
  /** Nodes to start now, as defined. */
  ready: string[];
  /** Nodes whose child must be canceled now, because another node failed. */
  stop: string[];
  /** Present when nothing runs, and nothing is ready or to be stopped. */
  outcome?: RunOutcome;
}

/**
 * What a run does next: every pending node whose parents have all completed is ready; without any, how the run ends.
 * After a failure nothing starts and what is under way stops, unless the workflow says `continue`.
 */
export function planNext(graph: WorkflowGraph, run: { nodes: ReadonlyMap<string, NodeRun> }): Plan {
  const ids = graph.definition.nodes.map(({ id }) => id);
  const having = (...statuses: NodeRun['status'][]) => ids.filter((id) => statuses.includes(statusOf(run, id)));
  const failed = having('failed').length > 0;
  const active = having('running', 'input-required');
  if (failed && graph.definition.onFailure !== 'continue') {
    return active.length > 0 ? { ready: [], stop: active } : { ready: [], stop: [], outcome: 'failed' };
  }
  const completed = new Set(having('completed'));
  const ready = having('pending').filter((id) => graph.parents(id).every((parent) => completed.has(parent)));
  if (ready.length > 0 || having('running').length > 0) return { ready, stop: [] };
  if (active.length > 0) return { ready, stop: [], outcome: 'input-required' };
  return { ready, stop: [], outcome: failed ? 'failed' : 'completed' };
}

function statusOf(run: { nodes: ReadonlyMap<string, NodeRun> }, id: string): NodeRun['status'] {
  return run.nodes.get(id)?.status ?? 'pending';
}
