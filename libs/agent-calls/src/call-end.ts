import { StoppableTimer } from '#libs/a2a-client';

/** Reason of a call that ended by its time limit. */
const OUT_OF_TIME = new Error('The call is out of time');

/** Minimum time for a call that resumes after its limit, in milliseconds. It reads an answer that is already there. */
export const LAST_LOOK_MS = 2_000;

/** Ends a call before its answer: by its time limit, the end of the calling execution, or because it is given up. */
export class CallEnd implements Disposable {
  private readonly connection = new AbortController();
  private timer: StoppableTimer | undefined;
  private reason: unknown;

  /** @param onCallerEnd called when the calling execution ends */
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

  /** True if the caller no longer waits for the answer. */
  get givenUp(): boolean {
    return this.reason !== undefined && !this.timedOut;
  }

  /** Starts to observe the end of the calling execution. */
  heedCaller(): void {
    if (this.caller.aborted) this.notifyCallerEnd();
    else this.caller.addEventListener('abort', this.notifyCallerEnd, { once: true });
  }

  /**
   * Starts the time limit, or restarts it. With an earlier `since` only the rest of the limit is left, but at least two
   * seconds, unless the limit itself is shorter.
   * @param limit in milliseconds; unlimited if absent
   * @param since in epoch milliseconds
   */
  startLimit(limit: number | undefined, since = Date.now()): void {
    if (limit === undefined) return;
    this.timer?.stopForGood();
    const left = Math.max(limit - (Date.now() - since), LAST_LOOK_MS);
    this.timer = new StoppableTimer(Math.min(left, limit), () => this.closeConnection(OUT_OF_TIME));
  }

  /** Suspends the limit while the answer is not being read, and resumes it. */
  pauseLimit(isPaused: boolean): void {
    if (isPaused) this.timer?.stop();
    else this.timer?.start();
  }

  /** Gives the call up; the connection may stay open for a moment. The first reason counts. */
  giveUp(reason: unknown): void {
    this.reason ??= reason;
  }

  /** Closes the connection. */
  closeConnection(reason: unknown): void {
    this.giveUp(reason);
    this.connection.abort(this.reason);
  }

  /** @throws the reason for which the call was given up, if it was */
  throwIfGivenUp(): void {
    if (this.givenUp) throw this.reason;
  }

  [Symbol.dispose](): void {
    this.timer?.stopForGood();
    this.caller.removeEventListener('abort', this.notifyCallerEnd);
  }

  private readonly notifyCallerEnd = (): void => this.onCallerEnd(this.caller.reason);
}
