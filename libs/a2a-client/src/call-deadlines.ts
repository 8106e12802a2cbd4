import type { AnswerListener } from '#libs/service';
import { AgentCallError } from './agent-call-error.js';
import type { AgentCallOptions, CallTimeouts } from './agent-client.js';
import { networkFailure, toAgentCallError } from './call-failure.js';
import type { TransportOptions } from './transports/agent-transport.js';

/** Longest delay of a Node.js timer, in milliseconds. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** A timer that can be stopped and resumed with its remaining time. It starts running when created. */
export class StoppableTimer {
  private timer: NodeJS.Timeout | undefined;
  private since = 0;
  private left: number;

  /** @param milliseconds delay until it expires; infinite for a timer that never expires */
  constructor(
    private readonly milliseconds: number,
    private readonly expire: () => void,
  ) {
    this.left = milliseconds;
    this.start();
  }

  /** Resumes a stopped timer with its remaining time. Does nothing if it is running. */
  start(): void {
    if (this.timer !== undefined || !Number.isFinite(this.left)) return;
    this.since = performance.now();
    this.timer = setTimeout(this.onTime, Math.min(this.left, LONGEST_TIMER));
  }

  stop(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.left = Math.max(this.left - (performance.now() - this.since), 0);
  }

  /** Stops the timer; it cannot be resumed. */
  stopForGood(): void {
    this.stop();
    this.left = Infinity;
  }

  /** Restores the timer's full delay. A stopped timer stays stopped. */
  refresh(): void {
    if (this.timer !== undefined && this.left === this.milliseconds) {
      this.since = performance.now();
      this.timer.refresh();
      return;
    }
    const isRunning = this.timer !== undefined;
    this.stop();
    this.left = this.milliseconds;
    if (isRunning) this.start();
  }

  private readonly onTime = (): void => {
    this.stopForGood();
    this.expire();
  };
}

/** Default time limits of a call. A blocking answer may take as long as an LLM does. */
export const DEFAULT_TIMEOUTS: Readonly<CallTimeouts> = {
  firstEvent: 120_000,
  idle: 120_000,
  total: 3_600_000,
  refused: 10_000,
};

/**
 * Time limits of one call over all its attempts. The limits are paused while the call waits for room in the memory for
 * answers (ReceivedAnswers). Dispose this object when the call has ended.
 */
export class CallDeadlines implements AnswerListener {
  readonly #timer: StoppableTimer;
  readonly #callerSignal: AbortSignal | undefined;
  #abort: AbortController | undefined;
  #attempt: CallAttempt | undefined;
  #isPaused = false;
  #reason: AgentCallError | undefined;
  readonly timeouts: CallTimeouts;
  readonly onUnsent: AgentCallOptions['onUnsent'];
  readonly onRepeat: AgentCallOptions['onRepeat'];
  readonly #onPause: AgentCallOptions['onPause'];

  constructor(options: AgentCallOptions, defaults: Partial<CallTimeouts> = {}) {
    this.timeouts = { ...DEFAULT_TIMEOUTS, ...defaults, ...options.timeouts };
    this.#callerSignal = options.signal;
    this.onUnsent = options.onUnsent;
    this.onRepeat = options.onRepeat;
    this.#onPause = options.onPause;
    const { total } = this.timeouts;
    this.#timer = new StoppableTimer(total, () =>
      this.#endCall(new AgentCallError('timeout', `timeout: not finished within ${formatSeconds(total)}`)),
    );
    if (options.signal?.aborted) this.#onCallerAbort();
    else options.signal?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  /**
   * True if the call was ended early: the total limit expired, the caller aborted it, or its answer was removed from
   * the memory for answers to make room.
   */
  get over(): boolean {
    return this.#reason !== undefined;
  }

  /**
   * Throws if the call is over. @throws AgentCallError `timeout`, `aborted`, or the kind of the error given to
   * `onEvicted`
   */
  throwIfOver(): void {
    if (this.#reason) throw this.#reason;
  }

  /** Signal that aborts when the call is over. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#reason) this.#abort.abort(this.#reason);
    return this.#abort.signal;
  }

  /** Begins an attempt, with separate limits for the first event and for silence. A call has one attempt at a time. */
  beginAttempt(): CallAttempt {
    this.#attempt = new CallAttempt(this.timeouts);
    if (this.#isPaused) this.#attempt.pauseLimits();
    if (this.#reason) this.#attempt.endAttempt(this.#reason);
    return this.#attempt;
  }

  /** Pauses all limits, since reading of the answer has paused for lack of memory. `onResumed` continues them. */
  onPaused(): void {
    this.#isPaused = true;
    this.#timer.stop();
    this.#attempt?.pauseLimits();
    this.#onPause?.(true);
  }

  onResumed(): void {
    this.#isPaused = false;
    this.#timer.start();
    this.#attempt?.resumeLimits();
    this.#onPause?.(false);
  }

  /** Ends the call, since its answer was removed from the memory for answers to make room. */
  onEvicted(error: Error): void {
    this.#endCall(networkFailure(error));
  }

  [Symbol.dispose](): void {
    this.#timer.stopForGood();
    this.#callerSignal?.removeEventListener('abort', this.#onCallerAbort);
  }

  readonly #onCallerAbort = (): void => {
    this.#endCall(new AgentCallError('aborted', 'the call was aborted', { cause: this.#callerSignal?.reason }));
  };

  #endCall(reason: AgentCallError): void {
    this.#timer.stopForGood();
    this.#reason ??= reason;
    this.#abort?.abort(reason);
    this.#attempt?.endAttempt(reason);
  }
}

/** Reason with which an attempt's connection is closed after success. */
const DONE = new AgentCallError('aborted', 'the exchange is over');

/** Attempt of a call: a single HTTP exchange. The end of the attempt closes the connection. */
export class CallAttempt {
  readonly #abort = new AbortController();
  #silence: StoppableTimer | undefined;
  #isPaused = false;
  #begun = false;
  #reason: AgentCallError | undefined;
  #fail: ((reason: AgentCallError) => void) | undefined;

  constructor(private readonly timeouts: CallTimeouts) {}

  /** Signal that aborts when the attempt is over. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Returns the caller's options with the `signal` and `alive` of this attempt, for a transport. */
  attemptOptions(options: AgentCallOptions & Pick<TransportOptions, 'place'>): TransportOptions {
    return { ...options, signal: this.signal, alive: this.alive };
  }

  /**
   * Waits for the answer or the next event within the limits, even if the transport ignores the signal. Time between
   * two calls of this method does not count: a slow reader is not a silent agent.
   * @throws AgentCallError
   */
  async awaitArrival<T>(arrival: Promise<T>): Promise<T> {
    this.#silence = new StoppableTimer(this.#begun ? this.timeouts.idle : this.timeouts.firstEvent, this.#onSilence);
    if (this.#isPaused) this.#silence.stop();
    try {
      const value = await this.#untilOver(arrival);
      this.#begun = true;
      return value;
    } catch (error) {
      throw this.#reason ?? toAgentCallError(error);
    } finally {
      this.#silence.stopForGood();
      this.#silence = undefined;
    }
  }

  /**
   * Begins the limit for silence again; called for each received piece, even a heartbeat. The limit for the first
   * event continues.
   */
  readonly alive = (): void => {
    if (this.#begun) this.#silence?.refresh();
  };

  /** Stops the limits for the first event and for silence. */
  pauseLimits(): void {
    this.#isPaused = true;
    this.#silence?.stop();
  }

  resumeLimits(): void {
    this.#isPaused = false;
    this.#silence?.start();
  }

  /** Ends the attempt and closes its connection. A pending `awaitArrival` rejects with the reason. */
  endAttempt(reason = DONE): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#silence?.stopForGood();
    this.#fail?.(reason);
    this.#abort.abort(reason);
  }

  /** Ends an attempt that waits for nothing. Its transport closes the connection. Does nothing after `endAttempt`. */
  leaveAttempt(): void {
    this.#reason ??= DONE;
    this.#silence?.stopForGood();
  }

  #untilOver<T>(arrival: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#fail = reject;
      arrival.then(resolve, reject);
      if (this.#reason) reject(this.#reason);
    });
  }

  readonly #onSilence = (): void => {
    const [limit, text] = this.#begun
      ? (['idle', 'silent for'] as const)
      : (['firstEvent', 'no answer within'] as const);
    this.endAttempt(new AgentCallError('timeout', `timeout: ${text} ${formatSeconds(this.timeouts[limit])}`));
  };
}

/** Formats a time in seconds, the unit of a node's configuration. */
export function formatSeconds(milliseconds: number): string {
  return `${milliseconds / 1_000} s`;
}
