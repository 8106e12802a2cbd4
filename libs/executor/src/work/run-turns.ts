/** A caller's runs that want to go on, the one that has waited longest first. */
type Line = (() => void)[];

/**
 * Turns of runs that have worked for as long as they may: one of them goes on in each turn of the event loop, so what all
 * of them do between two of its looks at connections and the database is one stretch of one run. Callers take turns; the
 * runs of one caller go on in their order.
 */
export class RunTurns {
  /** By the caller's account; whose turn it is comes first. */
  private readonly lines = new Map<string, Line>();

  /** Resolves when it is the turn of the caller and of the run, or once the signal is aborted. */
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
