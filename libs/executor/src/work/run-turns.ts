/** Milliseconds after which waiting runs are looked at again. */
const LONGEST_PAUSE_MS = 20;

/** Waiting runs of a caller, the longest-waiting first. */
type Line = (() => void)[];

/** Shares of the event loop that callers have, see LoopShares. */
export interface StretchShares {
  /** Milliseconds until costly work of a caller may continue; 0 if it may now. */
  delayMs(account: string): number;
  /** Charges a caller for milliseconds of the event loop. */
  chargeCaller(account: string, ms: number): void;
}

/**
 * Turns of runs that have used up their time. One run continues per turn of the event loop, so connections and the
 * database never wait for more than one stretch of one run. Callers take turns; the runs of one caller continue in
 * order. Each stretch is charged to its caller, whose runs wait while it owes more than its share.
 */
export class RunTurns {
  /** Queues by caller's account, the next caller first. */
  private readonly lines = new Map<string, Line>();

  constructor(private readonly shares: StretchShares = UNLIMITED) {}

  /** Resolves when it is the run's turn, or when the signal aborts. */
  next(account: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const goOn = (): void => {
        signal.removeEventListener('abort', goOn);
        resolve();
      };
      signal.addEventListener('abort', goOn);
      this.add(account, goOn);
    });
  }

  private add(account: string, goOn: () => void): void {
    if (this.lines.size === 0) setImmediate(this.letNextGoOn);
    const line = this.lines.get(account);
    if (line) line.push(goOn);
    else this.lines.set(account, [goOn]);
  }

  private readonly letNextGoOn = (): void => {
    let wait = Infinity;
    for (const [account, line] of this.lines) {
      const delay = this.shares.delayMs(account);
      if (delay <= 0) return this.letGoOn(account, line);
      wait = Math.min(wait, delay);
    }
    // A run of a caller that owes nothing may join meanwhile, and the others may leave.
    if (this.lines.size > 0) setTimeout(this.letNextGoOn, Math.min(Math.ceil(wait), LONGEST_PAUSE_MS)).unref();
  };

  private letGoOn(account: string, line: Line): void {
    const goOn = line.shift();
    this.lines.delete(account);
    if (line.length > 0) this.lines.set(account, line);
    if (this.lines.size > 0) setImmediate(this.letNextGoOn);
    const start = performance.now();
    goOn?.();
    // Ticks that a microtask queues run after all resolved promises: by then the stretch has ended.
    queueMicrotask(() => process.nextTick(() => this.shares.chargeCaller(account, performance.now() - start)));
  }
}

const UNLIMITED: StretchShares = { delayMs: () => 0, chargeCaller: () => undefined };
