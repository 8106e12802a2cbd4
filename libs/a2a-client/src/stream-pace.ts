const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 3_000;
/** Pauses of `FIRST_PAUSE_MS` to `LONGEST_PAUSE_MS`, which take twelve seconds together: as long as a take-over does. */
const SHORT_PAUSES = 8;
const LATER_PAUSE_MS = 5_000;
/** A stream that lasted so many milliseconds did not end early. */
const LASTING_MS = 10_000;

/**
 * The pace at which the stream of one Task is opened again, whatever it told before it ended: ten times in 20 seconds at
 * most. Pauses grow from 100 ms to three seconds within twelve seconds, and are five seconds long then; after a stream
 * that lasted ten seconds they are short again.
 */
export class StreamPace {
  private ended = 0;
  private begun = 0;

  /** @param now milliseconds that never go back */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Notes that a stream is opened. */
  begin(): void {
    this.begun = this.now();
  }

  /** Notes that it has ended. @returns milliseconds to wait before the next one */
  nextPause(): number {
    if (this.now() - this.begun >= LASTING_MS) this.ended = 0;
    this.ended += 1;
    return this.ended > SHORT_PAUSES
      ? LATER_PAUSE_MS
      : Math.min(FIRST_PAUSE_MS * 2 ** (this.ended - 1), LONGEST_PAUSE_MS);
  }
}
