import type { Frontier } from './frontier.js';
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
 * What a run does next: every pending node whose predecessors have all completed is ready; without any, how the run ends.
 * After a failure nothing starts and what is under way stops, unless the workflow says `continue`.
 */
export function planNext({ definition }: WorkflowGraph, { frontier }: { frontier: Frontier }): Plan {
  const failed = frontier.has('failed');
  if (failed && definition.onFailure !== 'continue') {
    const stop = idsOf(frontier.active);
    return stop.length > 0 ? { ready: [], stop } : { ready: [], stop, outcome: 'failed' };
  }
  const ready = idsOf(frontier.ready);
  if (ready.length > 0 || frontier.has('running')) return { ready, stop: [] };
  if (frontier.has('input-required')) return { ready, stop: [], outcome: 'input-required' };
  return { ready, stop: [], outcome: failed ? 'failed' : 'completed' };
}

/**
 * Whether a cancel of the run has begun to stop its nodes. It goes on, also where the process that did so is gone and
 * nobody has been told of the wish again yet: a run whose nodes were canceled never completes.
 */
export function isBeingCanceled({ definition }: WorkflowGraph, { frontier }: { frontier: Frontier }): boolean {
  return frontier.has('canceled') && (definition.onFailure === 'continue' || !frontier.has('failed'));
}

function idsOf(nodes: readonly { id: string }[]): string[] {
  return nodes.map(({ id }) => id);
}
