import type { AgentTurn, BrainstormProgress } from './brainstorm-progress.js';

/** An answer that is no state is asked for again so often; then the pass fails. */
const MOST_REJECTIONS = 2;

/** The one thing that is to be done next. */
export type NextStep =
  | { kind: 'begin'; iteration: number }
  | { kind: 'announce'; turn: AgentTurn }
  | { kind: 'call'; turn: AgentTurn }
  | { kind: 'give-up'; turn: AgentTurn }
  | { kind: 'merge'; iteration: number }
  | { kind: 'await-input'; as: 'converged' | 'failed' };

/**
 * What is next, from the progress alone: whoever reads the same log does the same. A pass asks its agents one after the
 * other; one that was cut goes on where it was.
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
