/** So many times as long as a look takes, nothing is looked at, up to half a minute. */
const REST = 20;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Paces a look at the database that costs more the longer a snapshot is held, since it passes whatever is dead. It takes at
 * most a twentieth of the time, unless it takes longer than a second and a half.
 */
export class PacedLook {
  private dueAt = Number.NEGATIVE_INFINITY;

  /** @param leastPauseMs milliseconds between two looks, however fast they are; 0: a look is always due */
  constructor(private readonly leastPauseMs: number) {}

  get isDue(): boolean {
    return performance.now() >= this.dueAt;
  }

  /** Looks; one that fails is due again at once. */
  async run<T>(look: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const seen = await look();
    const ended = performance.now();
    const rest = Math.min(REST * (ended - began), LONGEST_PAUSE_MS);
    if (this.leastPauseMs > 0) this.dueAt = ended + Math.max(this.leastPauseMs, rest);
    return seen;
  }
}
