import type { CalledTask } from '#libs/a2a-client';
import { type CallOutcome, withStatusText } from '#libs/agent-calls';
import type { Part } from '#libs/protocol';
import { type AnswerReport, answerReport } from './answer-report.js';
import { InvalidState, readState, type StateContent } from './core/canonical-state.js';

/** Result of an agent's turn. */
export type TurnOutcome =
  | { kind: 'state'; state: StateContent; report: AnswerReport }
  /** The answer is not a valid state; the agent may be asked again. */
  | { kind: 'rejected'; error: string; report: AnswerReport }
  | { kind: 'failed'; error: string };

/**
 * Returns the result of a call. Only a data Part of a completed Task's Artifacts can be a state, never text.
 * @param before state that the agent was sent
 */
export function turnOutcome(outcome: CallOutcome, before: StateContent): TurnOutcome {
  const { answer } = outcome;
  if (outcome.kind === 'failed') return failTurn(outcome.failure.message);
  if (outcome.kind === 'waiting')
    return failTurn(withStatusText(answer, 'the agent asks for something that a brainstorm cannot give'));
  if (answer.reply) return failTurn('no state: the agent answered with a Message instead of an Artifact');
  return readAnswer(answer, before);
}

function readAnswer({ artifacts }: CalledTask, before: StateContent): TurnOutcome {
  const holder = artifacts.findLast(({ parts }) => parts.some(isData));
  const last = holder?.parts.findLast(isData)?.data;
  if (last === undefined) return failTurn("no state: the agent's Artifacts hold no data Part");
  const report = answerReport(holder?.metadata);
  try {
    return { kind: 'state', state: readState(last, before), report };
  } catch (error) {
    if (!(error instanceof InvalidState)) throw error;
    return { kind: 'rejected', error: `invalid state: ${error.message}`, report };
  }
}

function isData({ data }: Part): boolean {
  return data !== undefined;
}

function failTurn(error: string): TurnOutcome {
  return { kind: 'failed', error };
}
