/** Milliseconds before a stream that has ended is opened again, whatever its server asks for. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_GROWN_MS = 10_000;
const LONGEST_ASKED_MS = 60_000;
/** After so many milliseconds without a stream that ended, pauses are short again. */
const QUIET_MS = 120_000;
/** Requests of the last minute are those whose streams may end now. */
const WINDOW_MS = 60_000;

/**
 * The pace at which the streams of one server are opened again, which is Parley's and not the server's.
 * - A pause takes one second at least; it doubles with each stream that has ended, up to ten seconds.
 * - Many requests at the same time have many streams: half as many as there were requests count as one.
 * - A server may ask for up to a minute.
 */
export class ReconnectPace {
  private requests = 0;
  private windowEnd = 0;
  private reconnects = 0;
  private last = 0;

  /** @param now milliseconds that never go back */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Notes a request, whose answer may come on a stream of its own. */
  noteRequest(): void {
    if (this.now() >= this.windowEnd) {
      this.requests = 0;
      this.windowEnd = this.now() + WINDOW_MS;
    }
    this.requests += 1;
  }

  /** @param asked milliseconds that the server asks for @returns milliseconds to wait */
  nextPause(asked: number): number {
    const now = this.now();
    if (now - this.last > QUIET_MS) this.reconnects = 0;
    this.last = now;
    const streams = now < this.windowEnd ? Math.max(1, this.requests / 2) : 1;
    const grown = Math.min(SHORTEST_PAUSE_MS * 2 ** Math.floor(this.reconnects / streams), LONGEST_GROWN_MS);
    this.reconnects += 1;
    return Math.max(grown, Math.min(asked || 0, LONGEST_ASKED_MS));
  }
}
