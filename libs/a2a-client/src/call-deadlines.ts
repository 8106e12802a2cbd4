import { AgentCallError } from './agent-call-error.js';
import type { CallOptions, CallTimeouts } from './agent-client.js';
import type { TransportOptions } from './agent-transport.js';
import { toAgentCallError } from './call-failure.js';

/** What holds where a caller names no limit, in milliseconds. A blocking answer may take as long as an LLM does. */
export const DEFAULT_TIMEOUTS: Readonly<CallTimeouts> = {
  connect: 5_000,
  firstEvent: 120_000,
  idle: 120_000,
  total: 3_600_000,
  refused: 10_000,
};

/** What a timer of this runtime can hold, in milliseconds. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** The limits of one call over all its attempts. Dispose it when the call has ended. */
export class CallDeadlines {
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #callerSignal: AbortSignal | undefined;
  #abort: AbortController | undefined;
  #attempt: CallAttempt | undefined;
  #reason: AgentCallError | undefined;
  readonly timeouts: CallTimeouts;
  readonly onUnsent: CallOptions['onUnsent'];

  constructor(options: CallOptions, defaults: Partial<CallTimeouts> = {}) {
    this.timeouts = { ...DEFAULT_TIMEOUTS, ...defaults, ...options.timeouts };
    this.#callerSignal = options.signal;
    this.onUnsent = options.onUnsent;
    const { total } = this.timeouts;
    this.#timer = timer(total, () =>
      this.#end(new AgentCallError('timeout', `timeout: not finished within ${seconds(total)}`)),
    );
    if (options.signal?.aborted) this.#onCallerAbort();
    else options.signal?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  /** Whether the call as a whole is over before its end. */
  get over(): boolean {
    return this.#reason !== undefined;
  }

  /** @throws AgentCallError `timeout` or `aborted`, where the call is over */
  throwIfOver(): void {
    if (this.#reason) throw this.#reason;
  }

  /** Aborts when the call as a whole is over. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#reason) this.#abort.abort(this.#reason);
    return this.#abort.signal;
  }

  /** Begins an attempt, with its own limits for the first event and for silence. One call makes one at a time. */
  attempt(): CallAttempt {
    this.#attempt = new CallAttempt(this.timeouts);
    if (this.#reason) this.#attempt.end(this.#reason);
    return this.#attempt;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#callerSignal?.removeEventListener('abort', this.#onCallerAbort);
  }

  readonly #onCallerAbort = (): void => {
    this.#end(new AgentCallError('aborted', 'the call was aborted', { cause: this.#callerSignal?.reason }));
  };

  #end(reason: AgentCallError): void {
    clearTimeout(this.#timer);
    this.#reason ??= reason;
    this.#abort?.abort(reason);
    this.#attempt?.end(reason);
  }
}

/** Why an attempt's connection is closed after a good end. */
const DONE = new AgentCallError('aborted', 'the exchange is over');

/** One HTTP exchange of a call. Its end closes the connection. */
export class CallAttempt {
  readonly #abort = new AbortController();
  #silence: NodeJS.Timeout | undefined;
  #begun = false;
  #reason: AgentCallError | undefined;
  #fail: ((reason: AgentCallError) => void) | undefined;

  constructor(private readonly timeouts: CallTimeouts) {}

  /** Aborts when the attempt is over. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** What a transport is told: the caller's options, and what ties it to this attempt. */
  options(options: CallOptions & Pick<TransportOptions, 'place'>): TransportOptions {
    return { ...options, signal: this.signal, alive: this.alive };
  }

  /**
   * Waits for the answer or the next event, no longer than the limits allow, even where the other side ignores the
   * signal. The time between two calls does not count: a slow reader is not a silent agent.
   * @throws AgentCallError
   */
  async next<T>(arrival: Promise<T>): Promise<T> {
    this.#silence = timer(this.#begun ? this.timeouts.idle : this.timeouts.firstEvent, this.#onSilence);
    try {
      const value = await this.#untilOver(arrival);
      this.#begun = true;
      return value;
    } catch (error) {
      throw this.#reason ?? toAgentCallError(error);
    } finally {
      clearTimeout(this.#silence);
    }
  }

  /** Something arrived, be it only a heartbeat: an open stream that beats is not idle. */
  readonly alive = (): void => {
    if (this.#begun) this.#silence?.refresh();
  };

  /** Ends the attempt and closes its connection; whoever waits for it gets the reason. */
  end(reason = DONE): void {
    if (this.#reason) return;
    this.#reason = reason;
    clearTimeout(this.#silence);
    this.#fail?.(reason);
    this.#abort.abort(reason);
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
    this.end(new AgentCallError('timeout', `timeout: ${text} ${seconds(this.timeouts[limit])}`));
  };
}

function timer(milliseconds: number, expire: () => void): NodeJS.Timeout | undefined {
  return Number.isFinite(milliseconds) ? setTimeout(expire, Math.min(milliseconds, LONGEST_TIMER)) : undefined;
}

/** Limits are named in the unit in which they are given to a node. */
function seconds(milliseconds: number): string {
  return `${milliseconds / 1_000} s`;
}
