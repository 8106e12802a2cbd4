import { AgentCallError, type AgentCallFailure, type CalledTask } from '#libs/a2a-client';
import { UnknownAgent } from '#libs/executor';
import { A2AError, briefText, ContentTooLarge, firstText, isWaitingState, type TaskState } from '#libs/protocol';

/** Why a call gave nothing to go on with. Whether to call again hangs on this alone, never on a text. */
export type CallFailureKind =
  | AgentCallFailure // `aborted` also where the agent canceled its Task
  | 'failed' // the agent's Task ended so
  | 'rejected' // the agent's Task ended so
  | 'internal'; // a fault of ours

export interface CallFailure {
  kind: CallFailureKind;
  /** May be shown to callers: it quotes the agent, never our internals. */
  message: string;
  /** Whether the same call may well succeed later. */
  retryable: boolean;
  /** How the agent's Task ended, where it was the agent that failed and not the call. */
  state?: TaskState;
  /** The agent asks to be called less often. */
  rateLimited?: true;
  /** How many milliseconds the agent asks to wait before it is called again. */
  retryAfter?: number;
  /** The limit of the whole call has passed. */
  timedOut?: true;
  /** For our own log, and for who looks for a reason in it. */
  cause?: unknown;
}

/** What came of a call. `completed` is also a direct Message; `waiting` asks for input or for authentication. */
export type CallOutcome =
  | { kind: 'completed'; answer: CalledTask }
  | { kind: 'waiting'; answer: CalledTask }
  | { kind: 'failed'; answer: CalledTask; failure: CallFailure };

const RETRYABLE: ReadonlySet<CallFailureKind> = new Set<CallFailureKind>([
  'connect',
  'timeout',
  'server-error',
  'overloaded',
]);

/** What an agent's answer means, once there is no more to come. */
export function outcomeOf(answer: CalledTask): CallOutcome {
  if (answer.reply) return { kind: 'completed', answer };
  const { state } = answer;
  const ended = (kind: CallFailureKind, what: string): CallOutcome => {
    const failure: CallFailure = {
      kind,
      message: withStatusText(answer, what),
      retryable: false,
      ...(state && { state }),
    };
    return { kind: 'failed', answer, failure };
  };
  switch (state) {
    case 'TASK_STATE_COMPLETED':
      return { kind: 'completed', answer };
    case 'TASK_STATE_INPUT_REQUIRED':
    case 'TASK_STATE_AUTH_REQUIRED':
      return { kind: 'waiting', answer };
    case 'TASK_STATE_FAILED':
      return ended('failed', 'the agent failed');
    case 'TASK_STATE_REJECTED':
      return ended('rejected', 'the agent rejected the message');
    case 'TASK_STATE_CANCELED':
      return ended('aborted', 'the agent canceled its task');
    default:
      return { kind: 'failed', answer, failure: UNFINISHED };
  }
}

const UNFINISHED: CallFailure = {
  kind: 'invalid-response',
  message: 'the agent did not finish its answer',
  retryable: false,
};

/** What an error means that a call was cut by. */
export function failureOf(cause: unknown): CallFailure {
  const failure = (kind: CallFailureKind, message: string): CallFailure => {
    return { kind, message, retryable: RETRYABLE.has(kind), cause };
  };
  if (cause instanceof AgentCallError) {
    const { kind, message, rateLimited, retryAfter } = cause;
    return {
      ...failure(kind, message),
      ...(rateLimited && { rateLimited }),
      ...(retryAfter !== undefined && { retryAfter }),
    };
  }
  if (cause instanceof A2AError) return failure('rpc-error', cause.message);
  if (cause instanceof UnknownAgent) return failure('not-found', cause.message);
  if (cause instanceof ContentTooLarge) return failure('refused', cause.message);
  return failure('internal', 'internal error');
}

/** True if the call of an answer has failed without a word of the agent's Task, which may wait without an end. */
export function isLeftWaiting(outcome: CallOutcome): boolean {
  const { state, taskId } = outcome.answer;
  if (outcome.kind !== 'failed' || outcome.failure.timedOut || taskId === undefined) return false;
  return state === undefined || isWaitingState(state);
}

/** The failure of an agent that used up its time. */
export function timedOut(milliseconds: number): CallFailure {
  const message = `timeout: not finished within ${milliseconds / 1_000} s`;
  return { kind: 'timeout', message, retryable: true, timedOut: true };
}

/** What an agent said last, in brief; empty where it said nothing. */
export function statusTextOf({ status }: Pick<CalledTask, 'status'>): string {
  return briefText(firstText(status?.message?.parts ?? [])?.trim() ?? '');
}

/** A sentence of ours with what the agent said of it. */
export function withStatusText(answer: Pick<CalledTask, 'status'>, what: string): string {
  const said = statusTextOf(answer);
  return said ? `${what}: ${said}` : what;
}
