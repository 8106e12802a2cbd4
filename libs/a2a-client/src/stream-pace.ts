const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 3_000;
/**
 * Number of growing pauses, from `FIRST_PAUSE_MS` to `LONGEST_PAUSE_MS`; they take twelve seconds together, as long as
 * another replica needs to take over a Task.
 */
const SHORT_PAUSES = 8;
const LATER_PAUSE_MS = 5_000;
/** Duration in milliseconds from which a stream did not end early. */
const LASTING_MS = 10_000;

/**
 * Pace for reopening the stream of one Task, whatever it reported before it ended: at most ten times in 20 seconds.
 * Pauses grow from 100 ms to three seconds within twelve seconds, then last five seconds; after a stream of ten seconds
 * they are short again.
 */
export class StreamPace {
  private ended = 0;
  private begun = 0;

  /** @param now monotonic clock, in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Notes that a stream is opened. */
  noteOpening(): void {
    this.begun = this.now();
  }

  /** Notes that the stream has ended. @returns milliseconds to wait before the next one */
  nextPause(): number {
    if (this.now() - this.begun >= LASTING_MS) this.ended = 0;
    this.ended += 1;
    return this.ended > SHORT_PAUSES
      ? LATER_PAUSE_MS
      : Math.min(FIRST_PAUSE_MS * 2 ** (this.ended - 1), LONGEST_PAUSE_MS);
  }
}
