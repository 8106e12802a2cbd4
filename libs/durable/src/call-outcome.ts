import { AgentCallError, type AgentCallFailure, type CalledTask, StoppableTimer } from '#libs/a2a-client';
import { type FaultKind, PublicFault } from '#libs/faults';
import {
  agentMessage,
  briefText,
  firstData,
  firstText,
  formMessage,
  formQuestion,
  isJsonObject,
  isWaitingState,
  type JsonObject,
  type Message,
  type Part,
  type TaskReference,
  type TaskState,
  textPart,
  textRows,
  textStart,
  withoutStackTrace,
} from '#libs/protocol';

/** Error of a call whose time limit has expired. */
const OUT_OF_TIME = new Error('The call is out of time');

/**
 * Minimum time limit in milliseconds of a call that is resumed after a crash, even if its own limit has passed: enough
 * to read an answer that already exists.
 */
export const LAST_LOOK_MS = 2_000;

/**
 * Manages the early end of a call: after a timeout, or because the call is given up. A call is given up if its answer
 * is no longer needed: the calling execution has ended, or has canceled or aborted the call.
 */
export class CallEnd implements Disposable {
  private readonly connection = new AbortController();
  private timer: StoppableTimer | undefined;
  private reason: unknown;

  /**
   * @param caller signal of the calling execution
   * @param onCallerEnd called with the reason when the calling execution ends
   */
  constructor(
    private readonly caller: AbortSignal,
    private readonly onCallerEnd: (reason: unknown) => void,
  ) {}

  /** Signal that aborts when the connection must close. */
  get signal(): AbortSignal {
    return this.connection.signal;
  }

  get timedOut(): boolean {
    return this.reason === OUT_OF_TIME;
  }

  /** True if the calling execution has ended, or has canceled or aborted the call. False after a timeout. */
  get givenUp(): boolean {
    return this.reason !== undefined && !this.timedOut;
  }

  /** Starts to observe the end of the calling execution. */
  heedCaller(): void {
    if (this.caller.aborted) this.notifyCallerEnd();
    else this.caller.addEventListener('abort', this.notifyCallerEnd, { once: true });
  }

  /**
   * Starts the time limit of the call, counted from `since`. If little or nothing of it is left, the call still has two
   * seconds, or the whole limit if that is shorter.
   * @param limit in milliseconds; absent: no limit
   * @param since in milliseconds since 1970; by default now
   */
  startLimit(limit: number | undefined, since = Date.now()): void {
    if (limit === undefined) return;
    this.timer?.stopForGood();
    const left = Math.max(limit - (Date.now() - since), LAST_LOOK_MS);
    this.timer = new StoppableTimer(Math.min(left, limit), () => this.closeConnection(OUT_OF_TIME));
  }

  /** Stops the time limit while the answer is not being read (`isPaused` true), and resumes it afterwards (false). */
  pauseLimit(isPaused: boolean): void {
    if (isPaused) this.timer?.stop();
    else this.timer?.start();
  }

  /**
   * Gives the call up with a reason. Does nothing if the call was given up before. The connection stays open until
   * `closeConnection` is called.
   */
  giveUp(reason: unknown): void {
    this.reason ??= reason;
  }

  /**
   * Closes the connection, and gives the call up with a reason. If the call was given up before, the earlier reason
   * stays.
   */
  closeConnection(reason: unknown): void {
    this.giveUp(reason);
    this.connection.abort(this.reason);
  }

  /** Throws the error that ended the call early. Does nothing if the call was not given up. */
  throwIfGivenUp(): void {
    if (this.givenUp) throw this.reason;
  }

  [Symbol.dispose](): void {
    this.timer?.stopForGood();
    this.caller.removeEventListener('abort', this.notifyCallerEnd);
  }

  private readonly notifyCallerEnd = (): void => this.onCallerEnd(this.caller.reason);
}

/** Kind of a failed call. Code that decides about retries compares this kind, and never the text of the error. */
export type CallFailureKind =
  | AgentCallFailure // `aborted` also if the agent canceled its Task
  | 'failed' // the agent's Task failed
  | 'rejected' // the agent's Task was rejected
  | 'internal'; // an internal fault

export interface CallFailure {
  kind: CallFailureKind;
  /** Message that callers may see. It may quote the agent, but never contains internals of this service. */
  message: string;
  /** True if the same call may succeed later. */
  retryable: boolean;
  /** Final state of the agent's Task, if the Task itself failed; absent if only the call failed. */
  state?: TaskState;
  /** True if the agent asks to be called less often. */
  rateLimited?: true;
  /** Time that the agent asks to wait before the next call, in milliseconds; absent if it asks for none. */
  retryAfter?: number;
  /** True if the time limit of the whole call has expired. */
  timedOut?: true;
  /** Underlying error, for the log and for analysis. */
  cause?: unknown;
}

/**
 * Outcome of a call. `completed`: the Task completed, or the agent sent a direct Message. `waiting`: the Task needs
 * input or authentication. `failed`: all other ends.
 */
export type CallOutcome =
  | { kind: 'completed'; answer: CalledTask }
  | { kind: 'waiting'; answer: CalledTask }
  | { kind: 'failed'; answer: CalledTask; failure: CallFailure };

/**
 * Returns the outcome of a call from the last state of the agent's Task. A Task that has not ended is a failure
 * (`invalid-response`).
 */
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

/** Converts an error to the failure of a call. An error that callers must not see becomes `internal`. */
export function toCallFailure(cause: unknown): CallFailure {
  const isPublic = cause instanceof AgentCallError || (cause instanceof PublicFault && LOCAL_KINDS.has(cause.kind));
  if (!isPublic) return { kind: 'internal', message: 'internal error', retryable: false, cause };
  const { publicMessage: message, retryable } = cause;
  const failure: CallFailure = { kind: cause.kind as CallFailureKind, message, retryable, cause };
  if (!(cause instanceof AgentCallError)) return failure;
  const { rateLimited, retryAfter } = cause;
  return { ...failure, ...(rateLimited && { rateLimited }), ...(retryAfter !== undefined && { retryAfter }) };
}

/** Kinds of faults of local agents (A2AError, UnknownAgent and ContentTooLarge) whose message the caller may see. */
const LOCAL_KINDS: ReadonlySet<FaultKind> = new Set<FaultKind>(['rpc-error', 'not-found', 'refused']);

/**
 * True if a call failed for another reason than its time limit, and the agent's Task may still wait for a Message: its
 * last known state is a waiting state, or no state is known.
 */
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

/** Returns the text of an agent's last status, truncated and without a stack trace; an empty text if there is none. */
export function statusTextOf({ status }: Pick<CalledTask, 'status'>): string {
  return briefText(withoutStackTrace(firstText(status?.message?.parts ?? [])?.trim() ?? ''));
}

/** Appends the text of the agent's last status to a sentence, if there is such a text. @param what the sentence */
export function withStatusText(answer: Pick<CalledTask, 'status'>, what: string): string {
  const said = statusTextOf(answer);
  return said ? `${what}: ${said}` : what;
}

/** Metadata key of a Message that asks a question about a call, or passes on a called agent's question. */
export const CALL_QUESTION = 'parley/question';

/** Metadata key of a run's Message: the nodes that wait for an answer. */
const WAITING_KEY = 'parley/waiting';
/** Metadata key of a run's Message: its open questions. */
const OPEN_KEY = 'parley/open-questions';

/** Maximum characters of the text of a question for a model or a caller. */
const LONGEST_QUESTION = 32_768;

/**
 * True if a person, and not a model, has to answer the question with which the agent's Task waits. That is so for:
 * - a login, an approval of a tool call, and a question with a form, as `human` nodes ask;
 * - a Message of a run with several open questions;
 * - a question about a call, for example a call that the agent may not have received.
 */
export function needsPerson({ status }: Pick<CalledTask, 'status'>): boolean {
  if (status?.state === 'TASK_STATE_AUTH_REQUIRED') return true;
  const { metadata, parts = [] } = status?.message ?? {};
  if (formQuestion(status?.message) || metadata?.[CALL_QUESTION] !== undefined) return true;
  const waiting = metadata?.[WAITING_KEY];
  const isOneOfSeveral = Array.isArray(waiting) && waiting.length > 1;
  return isOneOfSeveral || metadata?.[OPEN_KEY] !== undefined || parts.some(isToolCall);
}

/**
 * Returns the text of a question: its text Parts, otherwise its first data Part as JSON, otherwise a default sentence.
 */
export function questionText({ status }: Pick<CalledTask, 'status'>): string {
  const parts = status?.message?.parts ?? [];
  const rows = textRows(parts).filter((row) => row !== '');
  const data = firstData(parts);
  const asked = rows.length > 0 ? rows.join('\n\n') : JSON.stringify(data ?? null);
  return rows.length === 0 && data === undefined ? 'An answer is needed' : textStart(asked, LONGEST_QUESTION);
}

/**
 * Returns the Parts of a question by which a Task passes an agent's question on to its own caller.
 * @param name name of the agent
 */
export function questionParts(name: string, answer: Pick<CalledTask, 'status'>): Part[] {
  const parts = answer.status?.message?.parts ?? [];
  const text = textPart(`The agent "${name}" asks: ${questionText(answer)}`);
  return [text, ...parts.filter((part) => part.text === undefined)];
}

/**
 * Returns the Message by which a Task passes a called agent's question on to its own caller. The metadata say that a
 * person has to answer.
 * @param reference the Task that passes the question on
 * @param words Parts of the Message
 * @param about data about the call, for the metadata
 * @param asked the agent's own Message; if it has a form (JSON Schema of the answer), the returned Message has it too
 */
export function questionMessage(
  reference: TaskReference,
  words: Part[],
  about: JsonObject,
  asked: Message | undefined,
): Message {
  const form = formQuestion(asked);
  const message = form ? formMessage(reference, words, form) : agentMessage(reference, words);
  return { ...message, metadata: { ...message.metadata, [CALL_QUESTION]: about } };
}

/** True for a data Part of an agent that asks for approval of a tool call. */
function isToolCall({ data }: Part): boolean {
  return isJsonObject(data) && typeof data.tool === 'string' && isJsonObject(data.args);
}
