import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Shutdown } from '#libs/service';
import { type EnterFrame, frameRoomOf, LARGE_FRAME } from '../answers/frame-room.js';
import { PacedSocket } from '../answers/reader-pace.js';
import { ResponseBudgetExceeded } from '../answers/response-budget.js';
import { malformedRequest } from '../problem.js';

const SLOTS = 15;

/** Calls its owner after each interval in which the owner was silent, until it is stopped. */
export class HeartbeatTimer {
  private readonly wheel: TimerWheel;
  /** Turn of the TimerWheel in which the owner was last active. */
  renewed: number;
  slot: HeartbeatTimer[];
  index: number;

  constructor(
    intervalMs: number,
    readonly owner: { sendHeartbeat(): void },
  ) {
    this.wheel = TimerWheel.forInterval(intervalMs);
    this.renewed = this.wheel.turn;
    this.slot = this.wheel.slotOf(this.renewed);
    this.index = this.slot.push(this) - 1;
    this.wheel.start();
  }

  /** Notes activity of the owner. */
  noteActivity(): void {
    this.renewed = this.wheel.turn;
  }

  /** Stops the timer. Idempotent. */
  stop(): void {
    const { slot, index } = this;
    if (slot[index] !== this) return;
    const last = slot.pop()!;
    if (last === this) return;
    slot[index] = last;
    last.index = index;
  }

  /** Moves the timer to the slot of the wheel in which it is checked next. */
  moveSlot(): void {
    this.stop();
    this.slot = this.wheel.slotOf(this.renewed);
    this.index = this.slot.push(this) - 1;
  }
}

/**
 * Common timer of all HeartbeatTimers with the same interval (a timer wheel). An interval has `SLOTS` turns. Each
 * turn checks the timers in one slot: it calls the owners that were silent for a whole interval, and moves the other
 * timers to a later slot.
 */
class TimerWheel {
  private static readonly wheels = new Map<number, TimerWheel>();
  turn = 0;
  private readonly slots: HeartbeatTimer[][] = Array.from({ length: SLOTS }, () => []);
  private timer: NodeJS.Timeout | undefined;

  private constructor(private readonly intervalMs: number) {}

  static forInterval(intervalMs: number): TimerWheel {
    const known = this.wheels.get(intervalMs);
    if (known) return known;
    const wheel = new TimerWheel(intervalMs);
    this.wheels.set(intervalMs, wheel);
    return wheel;
  }

  /**
   * Returns the slot that is checked in a turn. Timers that were renewed in this turn go into the same slot, since it
   * is checked again `SLOTS` turns later.
   */
  slotOf(turn: number): HeartbeatTimer[] {
    return this.slots[turn % SLOTS]!;
  }

  start(): void {
    this.timer ??= setInterval(() => this.advanceTurn(), this.intervalMs / SLOTS).unref();
  }

  private advanceTurn(): void {
    this.turn += 1;
    const slot = this.slotOf(this.turn);
    for (const it of slot.slice()) {
      if (it.slot[it.index] !== it) continue;
      if (it.renewed > this.turn - SLOTS) it.moveSlot();
      else this.callOwner(it);
    }
    if (this.slots.some(({ length }) => length > 0)) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private callOwner(it: HeartbeatTimer): void {
    it.noteActivity();
    it.owner.sendHeartbeat();
  }
}

/**
 * Text that is built only when it is sent, and then freed. A plain text would stay in memory while a stream waits for
 * its next event: V8 keeps the last value of a suspended loop.
 */
export class PassingText {
  private make: (() => string) | undefined;

  /**
   * @param length approximate number of characters of the text
   * @param make builds the text; called once
   */
  constructor(
    readonly length: number,
    make: () => string,
  ) {
    this.make = make;
  }

  /** Builds the text. @throws Error if it was already taken */
  takeText(): string {
    const { make } = this;
    if (!make) throw new Error('The text was sent already');
    this.make = undefined;
    return make();
  }
}

/** Returns a text unchanged; builds the text of a PassingText. */
export function resolveText(text: string | PassingText): string {
  return typeof text === 'string' ? text : text.takeText();
}

/** Event of a stream (WHATWG HTML, section 9.2). */
export interface SseFrame {
  id?: string | number;
  event?: string;
  /** Data; each line becomes a `data:` line. */
  data: string | PassingText;
}

/** Formats a frame for the wire. Line breaks in `id` and `event`, which could forge another field, are dropped. */
export function formatSseFrame({ id, event, data: given }: SseFrame): string {
  const data = resolveText(given);
  let text = '';
  if (id !== undefined) text += `id: ${oneLine(String(id))}\n`;
  if (event !== undefined) text += `event: ${oneLine(event)}\n`;
  if (!/[\r\n]/.test(data)) return `${text}data: ${data}\n\n`;
  for (const line of data.split(/\r\n|\r|\n/)) text += `data: ${line}\n`;
  return `${text}\n`;
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\0]/g, '');
}

export interface SseStreamOptions {
  /** Milliseconds of silence before a comment is sent as a heartbeat; default 15,000. */
  heartbeatMs?: number;
  /** Milliseconds until the connection of a reader that takes no bytes is closed; default 30,000. */
  drainTimeoutMs?: number;
  headers?: OutgoingHttpHeaders;
  /** HTTP status of the response, default 200. */
  status?: number;
  /** Object that is notified once, when the reader has left or was disconnected, or the stream has ended. */
  owner?: { endReading(): void };
}

const HEADERS: OutgoingHttpHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
};
const HEARTBEAT = ': keep-alive\n\n';
/**
 * Maximum number of frames that wait for a slow reader, if their sender does not await `sendFrame`. Beyond it the
 * reader is disconnected.
 */
const MAX_WAITING = 1_000;
/**
 * Divisor of `drainTimeoutMs`. Bytes that leave the process in the first `drainTimeoutMs / FIRST_MOMENTS` milliseconds
 * of waiting for a slow reader do not count: the kernel may have buffered them, and not the reader taken them.
 */
const FIRST_MOMENTS = 30;
/**
 * Minimum number of characters that are written at once. A shorter text waits for more in the same cycle of the event
 * loop.
 */
const WRITTEN_AT_ONCE = 64 * 1024;
/** Abort reason that all streams share. Without it, each abort would create an error with a stack trace. */
const CLOSED = new Error('The stream is closed');

/**
 * Stream of server-sent events over a response with no other writer (Fastify: `reply.hijack()`, `reply.raw`).
 *
 * - All frames sent in one turn of the event loop go out in one piece, together with the headers.
 * - The stream buffers no more than the socket: `sendFrame` resolves when the reader can take the next frame.
 * - A reader that takes nothing for `drainTimeoutMs` is disconnected, and so is a reader below the rate of ReaderPace.
 * - A large frame is built when there is room for it (FrameRoom). If there is no room in time, the stream ends, and
 *   its reader reconnects.
 * - Losing the reader is no error: sending on a closed stream does nothing.
 */
export class SseStream {
  private readonly keepAlive: HeartbeatTimer;
  private readonly drainTimeoutMs: number;
  private readonly owner: SseStreamOptions['owner'];
  private closing: AbortController | undefined;
  private draining: Promise<void> | undefined;
  private waiting = 0;
  /** Formatted frames that were sent in this turn of the event loop and are not written yet. */
  private text = '';
  private flushing = false;
  private headersWritten = false;
  private ended = false;
  private gone = false;

  constructor(
    private readonly raw: ServerResponse,
    { heartbeatMs = 15_000, drainTimeoutMs = 30_000, headers, status = 200, owner }: SseStreamOptions = {},
  ) {
    this.drainTimeoutMs = drainTimeoutMs;
    this.owner = owner;
    const onClose = (): void => this.markClosed();
    raw.on('close', onClose);
    raw.on('error', onClose);
    raw.writeHead(status, { ...HEADERS, ...headers });
    this.keepAlive = new HeartbeatTimer(heartbeatMs, this);
    this.flushSoon();
    if (raw.destroyed) this.markClosed();
  }

  /** True if the reader has left or was disconnected, or the stream has ended. */
  get isClosed(): boolean {
    return this.gone;
  }

  /** Signal that aborts when the stream is closed. */
  get closed(): AbortSignal {
    this.closing ??= new AbortController();
    if (this.gone) this.closing.abort(CLOSED);
    return this.closing.signal;
  }

  /**
   * Sends a frame, and resolves when the reader can take the next frame. Frames keep their order even if a caller does
   * not await this method. If more than a thousand frames wait, the reader is disconnected.
   */
  async sendFrame(frame: SseFrame): Promise<void> {
    if (this.draining) await this.waitForTurn();
    if (this.gone || this.ended) return;
    const { length } = frame.data;
    const enter = length < LARGE_FRAME ? undefined : frameRoomOf(this.raw.req);
    if (enter) this.draining = this.sendLarge(frame, enter(length)).finally(() => (this.draining = undefined));
    else this.sendSmall(frame);
    if (this.draining) await this.draining;
  }

  private sendSmall(frame: SseFrame): void {
    this.text += formatSseFrame(frame);
    if (this.text.length < WRITTEN_AT_ONCE) this.flushSoon();
    else this.flushText();
  }

  /** Sends a frame once it has room, and holds the room until the reader has taken it. */
  private async sendLarge(frame: SseFrame, entering: ReturnType<EnterFrame>): Promise<void> {
    const leave = await entering.catch((error: unknown) => {
      if (!(error instanceof ResponseBudgetExceeded)) throw error;
      this.endStream();
    });
    try {
      if (this.gone || this.ended) return;
      this.text += formatSseFrame(frame);
      if (!this.writeText()) await this.waitForDrain();
    } finally {
      leave?.();
    }
  }

  /** Sends pending text and closes the stream. Idempotent. */
  endStream(): void {
    if (this.ended || this.gone) return;
    this.ended = true;
    this.keepAlive.stop();
    this.raw.once('close', this.watchReader());
    const { text } = this;
    this.text = '';
    if (text === '') this.raw.end(() => this.markClosed());
    else this.raw.end(text, () => this.markClosed());
  }

  /** Sends a heartbeat, unless the reader is slow. */
  sendHeartbeat(): void {
    if (this.draining || this.ended) return;
    this.text += HEARTBEAT;
    this.flushText();
  }

  private async waitForTurn(): Promise<void> {
    this.waiting += 1;
    if (this.waiting > MAX_WAITING) this.raw.destroy();
    while (this.draining) await this.draining;
    this.waiting -= 1;
  }

  /**
   * Writes the text at the end of this turn of the event loop: after the callbacks of settled promises, which may
   * send more.
   */
  private flushSoon(): void {
    if (this.flushing) return;
    this.flushing = true;
    process.nextTick(() => {
      this.flushing = false;
      if (!this.gone && !this.ended) this.flushText();
    });
  }

  private flushText(): void {
    const { text } = this;
    if (text === '') {
      if (!this.headersWritten) this.raw.flushHeaders();
    } else if (!this.writeText()) this.draining ??= this.waitForDrain().finally(() => (this.draining = undefined));
    this.headersWritten = true;
  }

  /** Writes the pending text. @returns true if more may be sent to the reader at once */
  private writeText(): boolean {
    const { text } = this;
    this.text = '';
    this.keepAlive.noteActivity();
    const taken = this.writeWithHeaders(text);
    this.headersWritten = true;
    return taken;
  }

  /**
   * Writes text; the first time flushes the headers before it. Node keeps the headers of an open response in memory
   * as a tree of small strings unless they are flushed separately. Corking still sends headers and text together.
   */
  private writeWithHeaders(text: string): boolean {
    const { raw } = this;
    if (this.headersWritten) return raw.write(text);
    const { socket } = raw;
    socket?.cork();
    raw.flushHeaders();
    const taken = raw.write(text);
    socket?.uncork();
    return taken;
  }

  /** Waits until the reader has taken all written bytes. Also resolves when the reader has left. */
  private async waitForDrain(): Promise<void> {
    const unwatch = this.watchReader();
    await once(this.raw, 'drain', { signal: this.closed }).catch(() => undefined);
    unwatch();
  }

  /**
   * Closes the connection of a reader that takes nothing for `drainTimeoutMs`. ReaderPace would do so later, but with a
   * reset, by which the reader loses data that it has received and not yet read. Bytes that leave the process in the
   * first moment do not count as taken, because the kernel may have buffered them (see FIRST_MOMENTS).
   * @returns the function that ends the watch
   */
  private watchReader(): () => void {
    const { socket } = this.raw;
    const reader = socket ? new PacedSocket(socket) : undefined;
    let taken = reader?.bytesTaken();
    const checkProgress = (): void => {
      const before = taken;
      taken = reader?.bytesTaken();
      if (taken === before) this.raw.destroy();
    };
    const settled = setTimeout(() => (taken = reader?.bytesTaken()), this.drainTimeoutMs / FIRST_MOMENTS).unref();
    const looks = setInterval(checkProgress, this.drainTimeoutMs).unref();
    return () => {
      clearTimeout(settled);
      clearInterval(looks);
    };
  }

  private markClosed(): void {
    if (this.gone) return;
    this.gone = true;
    this.keepAlive.stop();
    this.closing?.abort(CLOSED);
    this.owner?.endReading();
  }
}

/**
 * Reason for the end of a stream. `done`: everything was sent; `left`: the reader has left; `shutdown`: this process is
 * shutting down.
 */
export type StreamEnd = 'done' | 'left' | 'shutdown';

/**
 * Takes over the reply and sends frames as server-sent events; resolves when the stream has ended. Ending a stream does
 * not affect the work that it reports on.
 * @param frames yields the frames; its signal aborts when the reader has left or this process is shutting down
 */
export async function sendEvents(
  reply: FastifyReply,
  shutdown: Pick<Shutdown, 'started'>,
  frames: (signal: AbortSignal) => AsyncIterable<SseFrame>,
): Promise<StreamEnd> {
  reply.hijack();
  const stream = new SseStream(reply.raw, { headers: reply.getHeaders() as OutgoingHttpHeaders });
  try {
    for await (const frame of frames(AbortSignal.any([stream.closed, shutdown.started]))) await stream.sendFrame(frame);
    if (stream.closed.aborted) return 'left';
    return shutdown.started.aborted ? 'shutdown' : 'done';
  } finally {
    stream.endStream();
  }
}

/**
 * Position from which a reader resumes an event stream of `/api`. (Streams of A2A have `resumeCursor` of
 * libs/a2a-server; lists have page tokens.)
 */
export interface StreamCursor {
  /** Number of the last event that the reader has seen; 0: none. */
  after: number;
  /** Name of the field that contained the position: `Last-Event-ID` or `since`. */
  field: string;
}

/** Decorates a handler parameter that receives the cursor of the request (`readCursor`). */
export const Cursor = createParamDecorator((_: unknown, context: ExecutionContext): StreamCursor => {
  const { headers, query } = context.switchToHttp().getRequest<FastifyRequest>();
  return readCursor(headers, query as Record<string, unknown>);
});

/**
 * Reads the cursor of a request. `Last-Event-ID`, which a reconnecting reader sends, takes precedence over `?since=`,
 * which is still in the URL then. Without either the cursor is 0, the beginning of the stream.
 * @throws ProblemError 400 for an invalid number
 */
export function readCursor(headers: Record<string, unknown>, query: Record<string, unknown>): StreamCursor {
  const seen = headers['last-event-id'];
  if (seen !== undefined && seen !== '') return cursorOf('Last-Event-ID', seen);
  const { since } = query;
  return since === undefined ? { after: 0, field: 'since' } : cursorOf('since', since);
}

function cursorOf(field: string, value: unknown): StreamCursor {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return { after: Number(value), field };
  throw malformedRequest({ path: field, detail: 'must be the number of an event' });
}
