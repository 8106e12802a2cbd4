import { Inject, Injectable, type OnModuleDestroy, Optional } from '@nestjs/common';
import type { Socket } from 'node:net';
import { Metrics, type ShortLivedItem, ShortLivedSet } from '#libs/service';

/** Connection or stream whose reader must keep a minimum rate. */
export interface PacedReader {
  /** True while bytes wait for the reader. */
  hasPending(): boolean;
  /** Number of bytes that have been sent to the reader so far. Never decreases. */
  bytesTaken(): number;
  /** Ends the connection or the stream, and frees the memory that it holds. */
  cutReader(): void;
}

export interface PaceLimits {
  /** Minimum rate of a reader while bytes wait for it, in bytes per second. */
  bytesPerSecond: number;
  /** Period over which the rate is measured, in milliseconds. */
  windowMs: number;
}

/** Injection token for other limits in tests; the defaults are 16 kB/s over 30 seconds. */
const PACE_LIMITS = Symbol('PACE_LIMITS');
const DEFAULT_LIMITS: PaceLimits = { bytesPerSecond: 16_000, windowMs: 30_000 };
const LOOKS_PER_WINDOW = 6;

/**
 * Disconnects readers that take less than the minimum rate, so that no reader determines how long an answer stays in
 * memory.
 * - A reader that takes nothing is disconnected between one window and one window plus a sixth after its answer began
 *   to wait.
 * - A reader for which no bytes wait is never disconnected.
 * - A window lasts six ticks of a timer. While this process is suspended or its event loop is blocked, the timer does
 *   not tick, so no reader is disconnected because of that.
 * Bytes count as taken when they leave the process. The kernel accepts up to a few megabytes at once, so on a fast
 * network with large buffers a reader below 50 kB/s may count as a reader that takes nothing.
 */
@Injectable()
export class ReaderPace implements OnModuleDestroy {
  private readonly watched = new ShortLivedSet<WatchedReader>();
  private readonly timer: NodeJS.Timeout;
  private readonly leastBytes: number;
  private readonly cuts;

  constructor(
    metrics: Metrics,
    @Optional() @Inject(PACE_LIMITS) { bytesPerSecond, windowMs }: PaceLimits = DEFAULT_LIMITS,
  ) {
    this.leastBytes = (bytesPerSecond * windowMs) / 1000;
    this.timer = setInterval(() => this.measureAll(), windowMs / LOOKS_PER_WINDOW).unref();
    this.cuts = metrics.counter('parley_slow_readers_cut_total', 'Readers that were cut because they took too little');
  }

  /** Watches a reader. @returns the function that ends the watch; further calls have no effect */
  watchReader(reader: PacedReader): () => void {
    const watched = this.watched.add({ reader, marks: [] });
    return () => watched.leaveSet();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private measureAll(): void {
    for (const watched of this.watched) if (watched.isThere) this.measureReader(watched);
  }

  private measureReader(watched: ShortLivedItem<WatchedReader>): void {
    const { reader, marks } = watched.value;
    if (!reader.hasPending()) return void (marks.length = 0);
    const taken = reader.bytesTaken();
    marks.push(taken);
    if (marks.length <= LOOKS_PER_WINDOW || taken - marks.shift()! >= this.leastBytes) return;
    watched.leaveSet();
    this.cuts.inc();
    reader.cutReader();
  }
}

interface WatchedReader {
  reader: PacedReader;
  /** Numbers of bytes taken at the last measurements, since bytes began to wait. */
  marks: number[];
}

/**
 * Node's internal state of a socket. From it, Node itself distinguishes a slow reader from a reader that takes nothing
 * (net.js).
 */
interface SocketInternals {
  _bytesDispatched?: number;
  _handle?: { writeQueueSize?: number } | null;
}

/** Reader at the other end of a socket, whatever protocol the socket carries. */
export class PacedSocket implements PacedReader {
  constructor(private readonly socket: Socket) {}

  /** True while bytes wait for the reader in the socket's queue, or in the queue of its handle (HTTP/2). */
  hasPending(): boolean {
    const { _handle: handle } = this.socket as unknown as SocketInternals;
    return this.socket.writableLength > 0 || (handle?.writeQueueSize ?? 0) > 0;
  }

  /**
   * Returns the number of bytes that have been sent. If Node's internal state cannot be read, a write counts only
   * once all of it has been sent.
   */
  bytesTaken(): number {
    const { socket } = this;
    const { _bytesDispatched: dispatched, _handle: handle } = socket as unknown as SocketInternals;
    const queued = handle?.writeQueueSize;
    return dispatched === undefined || queued === undefined
      ? socket.bytesWritten - socket.writableLength
      : dispatched - queued;
  }

  /** Resets the connection, which also frees the bytes that wait in the kernel. */
  cutReader(): void {
    this.socket.resetAndDestroy();
  }
}
