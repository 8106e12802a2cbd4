import { StoppableTimer } from '#libs/a2a-client';

/** Why a call is over whose agent has no time left. */
const OUT_OF_TIME = new Error('The call is out of time');

/** What a call has that is picked up after its time, to ask how the agent's Task is: an answer that is there is not lost. */
export const LAST_LOOK_MS = 2_000;

/** What ends a call before its answer does: its time, the end of the execution that calls, and whoever gives it up. */
export class CallEnd implements Disposable {
  private readonly connection = new AbortController();
  private timer: StoppableTimer | undefined;
  private reason: unknown;

  /** @param onCallerEnd what to do when the execution that calls ends */
  constructor(
    private readonly caller: AbortSignal,
    private readonly onCallerEnd: (reason: unknown) => void,
  ) {}

  /** Aborts when the connection is to be closed. */
  get signal(): AbortSignal {
    return this.connection.signal;
  }

  get timedOut(): boolean {
    return this.reason === OUT_OF_TIME;
  }

  /** Whether nobody waits for the answer any more. */
  get givenUp(): boolean {
    return this.reason !== undefined && !this.timedOut;
  }

  /** From here on the caller's end counts. */
  heedCaller(): void {
    if (this.caller.aborted) this.heed();
    else this.caller.addEventListener('abort', this.heed, { once: true });
  }

  /**
   * From here on the time counts, or since another execution began the call: then what is left of it, but two seconds at
   * least, unless the limit is shorter. A second call restarts the time.
   * @param limit in milliseconds; absent: as long as it takes
   * @param since in milliseconds of the epoch
   */
  begin(limit: number | undefined, since = Date.now()): void {
    if (limit === undefined) return;
    this.timer?.end();
    const left = Math.max(limit - (Date.now() - since), LAST_LOOK_MS);
    this.timer = new StoppableTimer(Math.min(left, limit), () => this.close(OUT_OF_TIME));
  }

  /** Stops the time while nothing of the answer is read, and lets it go on. */
  pause(isPaused: boolean): void {
    if (isPaused) this.timer?.stop();
    else this.timer?.start();
  }

  /** Nobody waits for the answer any more; the connection may stay open for a moment. The first reason stands. */
  giveUp(reason: unknown): void {
    this.reason ??= reason;
  }

  /** Closes the connection. */
  close(reason: unknown): void {
    this.giveUp(reason);
    this.connection.abort(this.reason);
  }

  /** @throws why the call was given up, if it was */
  throwIfGivenUp(): void {
    if (this.givenUp) throw this.reason;
  }

  [Symbol.dispose](): void {
    this.timer?.end();
    this.caller.removeEventListener('abort', this.heed);
  }

  private readonly heed = (): void => this.onCallerEnd(this.caller.reason);
}
