import type { CalledTask } from '#libs/a2a-client';
import { type CallOutcome, withStatusText } from '#libs/agent-calls';
import type { JsonValue } from '#libs/protocol';
import { InvalidState, readState, type StateContent } from './core/canonical-state.js';

/** How an agent's turn came to its end. */
export type TurnOutcome =
  | { kind: 'state'; state: StateContent }
  /** It answered with something that is no state; it may be asked again. */
  | { kind: 'rejected'; error: string }
  | { kind: 'failed'; error: string };

/**
 * Returns what an answer is worth: only the data of a completed Task's Artifacts can be a state, text never is.
 * @param before the state that the agent was sent
 */
export function turnOutcome(outcome: CallOutcome, before: StateContent): TurnOutcome {
  const { answer } = outcome;
  if (outcome.kind === 'failed') return failed(outcome.failure.message);
  if (outcome.kind === 'waiting')
    return failed(withStatusText(answer, 'the agent asks for something that a brainstorm cannot give'));
  if (answer.reply) return failed('no state: the agent answered with a Message instead of an Artifact');
  return readAnswer(answer, before);
}

function readAnswer({ artifacts }: CalledTask, before: StateContent): TurnOutcome {
  const data = artifacts.flatMap(({ parts }) =>
    parts.flatMap((part): JsonValue[] => (part.data === undefined ? [] : [part.data])),
  );
  const last = data.at(-1);
  if (last === undefined) return failed("no state: the agent's Artifacts hold no data Part");
  try {
    return { kind: 'state', state: readState(last, before) };
  } catch (error) {
    if (!(error instanceof InvalidState)) throw error;
    return { kind: 'rejected', error: `invalid state: ${error.message}` };
  }
}

function failed(error: string): TurnOutcome {
  return { kind: 'failed', error };
}
