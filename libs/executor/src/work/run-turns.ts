/** Waiting runs of a caller, the longest-waiting first. */
type Line = (() => void)[];

/**
 * Turns of runs that have used up their time. One run continues per turn of the event loop, so connections and the
 * database never wait for more than one stretch of one run. Callers take turns; the runs of one caller continue in
 * order.
 */
export class RunTurns {
  /** Queues by caller's account, the next caller first. */
  private readonly lines = new Map<string, Line>();

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
    const [next] = this.lines;
    if (!next) return;
    const [account, line] = next;
    const goOn = line.shift();
    this.lines.delete(account);
    if (line.length > 0) this.lines.set(account, line);
    if (this.lines.size > 0) setImmediate(this.letNextGoOn);
    goOn?.();
  };
}
