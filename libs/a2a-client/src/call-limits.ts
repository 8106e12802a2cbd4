import { AgentCallError } from './agent-call-error.js';
import type { CallOptions, CallTimeouts } from './agent-client.js';
import { toAgentCallError } from './call-failure.js';

/** What holds where a caller names no limit, in milliseconds. A blocking answer may take as long as an LLM does. */
export const DEFAULT_TIMEOUTS: Readonly<CallTimeouts> = {
  connect: 5_000,
  firstEvent: 120_000,
  idle: 120_000,
  total: 3_600_000,
};

const ATTEMPTS = new WeakMap<AbortSignal, CallAttempt>();

/** The limits of one call over all its attempts. Dispose it when the call has ended. */
export class CallLimits {
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #callerSignal: AbortSignal | undefined;
  readonly timeouts: CallTimeouts;

  constructor(options: CallOptions, defaults: Partial<CallTimeouts> = {}) {
    this.timeouts = { ...DEFAULT_TIMEOUTS, ...defaults, ...options.timeouts };
    this.#callerSignal = options.signal;
    if (options.signal?.aborted) this.#onCallerAbort();
    else options.signal?.addEventListener('abort', this.#onCallerAbort, { once: true });
    const { total } = this.timeouts;
    this.#timer = timer(total, () =>
      this.#end(new AgentCallError('timeout', `timeout: not finished within ${total} ms`)),
    );
  }

  /** Aborts when the call as a whole is over: its `reason` is an AgentCallError, `timeout` or `aborted`. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Begins an attempt, with its own limits for the first event and for silence. */
  attempt(): CallAttempt {
    return new CallAttempt(this.signal, this.timeouts);
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
    this.#abort.abort(reason);
  }
}

/** One HTTP exchange of a call. Its end closes the connection. */
export class CallAttempt {
  readonly #abort = new AbortController();
  #silence: NodeJS.Timeout | undefined;
  #begun = false;

  constructor(
    private readonly call: AbortSignal,
    readonly timeouts: CallTimeouts,
  ) {
    ATTEMPTS.set(this.#abort.signal, this);
    if (call.aborted) this.#onCallOver();
    else call.addEventListener('abort', this.#onCallOver, { once: true });
  }

  /** The attempt that a signal belongs to: a `fetch` is given nothing else that tells calls apart. */
  static of(signal: AbortSignal | null | undefined): CallAttempt | undefined {
    return signal ? ATTEMPTS.get(signal) : undefined;
  }

  /** Aborts when the attempt is over. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /**
   * Waits for the answer or the next event, no longer than the limits allow, even where the other side ignores the
   * signal. The time between two calls does not count: a slow reader is not a silent agent.
   * @throws AgentCallError
   */
  async next<T>(arrival: Promise<T>): Promise<T> {
    const [limit, text] = this.#begun
      ? (['idle', 'silent for'] as const)
      : (['firstEvent', 'no answer within'] as const);
    this.#silence = timer(this.timeouts[limit], () =>
      this.#abort.abort(new AgentCallError('timeout', `timeout: ${text} ${this.timeouts[limit]} ms`)),
    );
    try {
      const value = await untilAborted(arrival, this.signal);
      this.#begun = true;
      return value;
    } catch (error) {
      throw this.signal.aborted ? toAgentCallError(this.signal.reason) : toAgentCallError(error);
    } finally {
      clearTimeout(this.#silence);
    }
  }

  /** Something arrived, be it only a heartbeat: an open stream that beats is not idle. */
  alive(): void {
    if (this.#begun) this.#silence?.refresh();
  }

  /** Ends the attempt and closes its connection. */
  end(): void {
    clearTimeout(this.#silence);
    this.call.removeEventListener('abort', this.#onCallOver);
    if (!this.signal.aborted) this.#abort.abort(new AgentCallError('aborted', 'the exchange is over'));
  }

  readonly #onCallOver = (): void => this.#abort.abort(this.call.reason);
}

/** Rejects with the signal's reason as soon as it aborts. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => undefined);
  signal.throwIfAborted();
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function timer(milliseconds: number, expire: () => void): NodeJS.Timeout | undefined {
  return Number.isFinite(milliseconds) ? setTimeout(expire, milliseconds) : undefined;
}
