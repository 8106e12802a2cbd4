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
  const pending: string[] = [];
  const active: string[] = [];
  let running = false;
  let failed = false;
  for (const { id } of graph.definition.nodes) {
    const status = statusOf(run, id);
    if (status === 'pending') pending.push(id);
    else if (status === 'running' || status === 'input-required') active.push(id);
    running ||= status === 'running';
    failed ||= status === 'failed';
  }
  if (failed && graph.definition.onFailure !== 'continue') {
    return active.length > 0 ? { ready: [], stop: active } : { ready: [], stop: [], outcome: 'failed' };
  }
  const isReady = (id: string) => graph.parents(id).every((parent) => statusOf(run, parent) === 'completed');
  const ready = pending.filter(isReady);
  if (ready.length > 0 || running) return { ready, stop: [] };
  if (active.length > 0) return { ready, stop: [], outcome: 'input-required' };
  return { ready, stop: [], outcome: failed ? 'failed' : 'completed' };
}

function statusOf(run: { nodes: ReadonlyMap<string, NodeRun> }, id: string): NodeRun['status'] {
  return run.nodes.get(id)?.status ?? 'pending';
}
