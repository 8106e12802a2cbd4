import type { PassTurn, BrainstormProgress } from './brainstorm-progress.js';

/** Repeated requests after answers without a valid state; then the pass fails. */
const MOST_REJECTIONS = 2;

/** Next step of a brainstorm. */
export type NextStep =
  | { kind: 'begin'; iteration: number }
  | { kind: 'announce'; turn: PassTurn }
  | { kind: 'call'; turn: PassTurn }
  | { kind: 'give-up'; turn: PassTurn }
  | { kind: 'merge'; iteration: number }
  | { kind: 'await-input'; as: 'converged' | 'failed' };

/**
 * Returns the next step. It depends on the progress alone, so every execution decides the same. A pass asks its agents
 * one after the other, and resumes where it was interrupted.
 */
export function nextStep(progress: BrainstormProgress): NextStep {
  if (progress.failure) return { kind: 'await-input', as: 'failed' };
  const { pass } = progress;
  if (pass === undefined) {
    if (progress.verdict?.converged) return { kind: 'await-input', as: 'converged' };
    return { kind: 'begin', iteration: progress.state.meta.iteration + 1 };
  }
  const turn = pass.agents.find(({ status }) => status !== 'completed');
  if (turn === undefined) return { kind: 'merge', iteration: pass.iteration };
  if (turn.status === 'running') return { kind: 'call', turn };
  return { kind: turn.rejections > MOST_REJECTIONS ? 'give-up' : 'announce', turn };
}
