/** Factor of the pause after a look: the look's own duration times this, up to half a minute. */
const REST = 20;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Paces a query whose cost grows while a snapshot is held, because it scans dead rows. The query takes at most a
 * twentieth of the time, unless it takes longer than a second and a half.
 */
export class PacedLook {
  private dueAt = Number.NEGATIVE_INFINITY;

  /** @param leastPauseMs minimum milliseconds between two looks; 0: a look is always due */
  constructor(private readonly leastPauseMs: number) {}

  get isDue(): boolean {
    return performance.now() >= this.dueAt;
  }

  /** Runs a look. After a failure the next one is due immediately. */
  async runLook<T>(look: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const seen = await look();
    const ended = performance.now();
    const rest = Math.min(REST * (ended - began), LONGEST_PAUSE_MS);
    if (this.leastPauseMs > 0) this.dueAt = ended + Math.max(this.leastPauseMs, rest);
    return seen;
  }
}
