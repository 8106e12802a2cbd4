import { AgentCallError, type AgentCallFailure, type CalledTask } from '#libs/a2a-client';
import { UnknownAgent } from '#libs/executor';
import { A2AError, briefText, ContentTooLarge, firstText, isWaitingState, type TaskState } from '#libs/protocol';

/** Kinds of failed calls. A retry is decided by the kind, never by a text. */
export type CallFailureKind =
  | AgentCallFailure // `aborted` also if the agent canceled its Task
  | 'failed' // the agent's Task failed
  | 'rejected' // the agent's Task was rejected
  | 'internal'; // an internal fault

export interface CallFailure {
  kind: CallFailureKind;
  /** Message for callers. It may quote the agent and never contains internals. */
  message: string;
  /** True if the same call may succeed later. */
  retryable: boolean;
  /** Final state of the agent's Task, if the agent failed and not the call. */
  state?: TaskState;
  /** True if the agent asks to be called less often. */
  rateLimited?: true;
  /** Milliseconds that the agent asks to wait before the next call. */
  retryAfter?: number;
  /** True if the limit of the whole call has expired. */
  timedOut?: true;
  /** Underlying error, for the log and for analysis. */
  cause?: unknown;
}

/** Outcome of a call. `completed` includes a direct Message; `waiting` needs input or authentication. */
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

/** Returns the outcome that a final answer stands for. */
export function toCallOutcome(answer: CalledTask): CallOutcome {
  if (answer.reply) return { kind: 'completed', answer };
  const { state } = answer;
  const failedWith = (kind: CallFailureKind, what: string): CallOutcome => {
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
      return failedWith('failed', 'the agent failed');
    case 'TASK_STATE_REJECTED':
      return failedWith('rejected', 'the agent rejected the message');
    case 'TASK_STATE_CANCELED':
      return failedWith('aborted', 'the agent canceled its task');
    default:
      return { kind: 'failed', answer, failure: UNFINISHED };
  }
}

const UNFINISHED: CallFailure = {
  kind: 'invalid-response',
  message: 'the agent did not finish its answer',
  retryable: false,
};

/** Returns the failure that an error of a call stands for. */
export function toCallFailure(cause: unknown): CallFailure {
  const createFailure = (kind: CallFailureKind, message: string): CallFailure => {
    return { kind, message, retryable: RETRYABLE.has(kind), cause };
  };
  if (cause instanceof AgentCallError) {
    const { kind, message, rateLimited, retryAfter } = cause;
    return {
      ...createFailure(kind, message),
      ...(rateLimited && { rateLimited }),
      ...(retryAfter !== undefined && { retryAfter }),
    };
  }
  if (cause instanceof A2AError) return createFailure('rpc-error', cause.message);
  if (cause instanceof UnknownAgent) return createFailure('not-found', cause.message);
  if (cause instanceof ContentTooLarge) return createFailure('refused', cause.message);
  return createFailure('internal', 'internal error');
}

/** True if the call that answers a Task has failed without an update of that Task, which may wait forever. */
export function isLeftWaiting(outcome: CallOutcome): boolean {
  const { state, taskId } = outcome.answer;
  if (outcome.kind !== 'failed' || outcome.failure.timedOut || taskId === undefined) return false;
  return state === undefined || isWaitingState(state);
}

/** Returns the failure of an agent that exceeded its time limit. */
export function timedOut(milliseconds: number): CallFailure {
  const message = `timeout: not finished within ${milliseconds / 1_000} s`;
  return { kind: 'timeout', message, retryable: true, timedOut: true };
}

/** Returns the text of an agent's last status, shortened; `''` if there is none. */
export function statusTextOf({ status }: Pick<CalledTask, 'status'>): string {
  return briefText(firstText(status?.message?.parts ?? [])?.trim() ?? '');
}

/** Returns a sentence followed by the text of the agent's last status, if any. */
export function withStatusText(answer: Pick<CalledTask, 'status'>, what: string): string {
  const said = statusTextOf(answer);
  return said ? `${what}: ${said}` : what;
}
