import type { EdgeOutcome } from '../graph/edge-look.js';
import type { DefinitionEdge } from '../graph/graph.js';

/** Returns the state of an edge and its reason in a sentence. */
export function describeEdgeState({ from, when, on = 'success', loop }: DefinitionEdge, state: EdgeOutcome): string {
  if (loop) return state === 'live' ? 'It was repeated.' : state === 'off' ? 'It ran once.' : 'It was not reached yet.';
  if (state === undefined) return `Not decided yet: ${from} has not ended.`;
  if (state === 'broken') return `Broken: ${from} failed, or was never started because of a failure.`;
  if (state === 'live') return when === undefined ? 'It was taken.' : 'It was taken: its condition held.';
  if (on === 'failure') return `Not taken: ${from} did not fail, or its condition did not hold.`;
  return when === undefined
    ? `Not taken: another edge of ${from} was, or ${from} was not chosen itself.`
    : 'Not taken: its condition did not hold, or another edge came before it.';
}
