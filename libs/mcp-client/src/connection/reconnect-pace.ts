/** Minimum pause in milliseconds before an ended stream is opened again, whatever the server requests. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_GROWN_MS = 10_000;
const LONGEST_ASKED_MS = 60_000;
/** Milliseconds without an ended stream after which pauses are short again. */
const QUIET_MS = 120_000;
/** Milliseconds over which requests are counted. */
const WINDOW_MS = 60_000;

/**
 * Pace at which the streams of one server are opened again.
 * - A pause takes at least one second. It doubles with each ended stream, up to ten seconds.
 * - Concurrent requests have many streams: the growth is divided by half the number of recent requests.
 * - A server may request up to a minute.
 */
export class ReconnectPace {
  private requests = 0;
  private windowEnd = 0;
  private reconnects = 0;
  private last = 0;

  /** @param now monotonic clock in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Counts a request, whose answer may come on a stream of its own. */
  noteRequest(): void {
    if (this.now() >= this.windowEnd) {
      this.requests = 0;
      this.windowEnd = this.now() + WINDOW_MS;
    }
    this.requests += 1;
  }

  /** @param asked milliseconds that the server requests @returns milliseconds to wait */
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
