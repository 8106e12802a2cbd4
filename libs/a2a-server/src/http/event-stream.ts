import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OutgoingHttpHeaders } from 'node:http';
import { admitStream } from '#libs/access';
import { SseStream } from '#libs/http-server';
import { type A2AError, invalidParams } from '#libs/protocol';
import { ShortLivedSet } from '#libs/service';
import { publicError } from '../public-error.js';
import { type OpenItems, openIterated, type StreamItem, type SubscriptionOptions, TaskItems } from '../task-stream.js';

/** Format of the items and errors of a stream in one protocol binding. */
export interface StreamFraming {
  frameItem(item: Pick<StreamItem, 'json' | 'response'>): string;
  /** Formats an error after the first item; `event` is its SSE type. */
  frameError(error: A2AError): { event?: string; data: string };
  /** True for an item that ends the stream, even if more items would follow; absent: the stream ends by itself. */
  isLast?(item: StreamItem): boolean;
}

/**
 * Milliseconds of silence before a client on httpx, such as the SDK for Python, gets a comment: with its default
 * settings it gives up a stream after five seconds of silence.
 */
const HTTPX_HEARTBEAT_MS = 4_000;

type StreamItems = readonly StreamItem[] | undefined;
type OpenStreams = ShortLivedSet<EventStream>;

/** Open event streams of all HTTP bindings, which a shutdown ends. */
export class EventStreams {
  private readonly open: OpenStreams = new ShortLivedSet();

  /**
   * Answers with an event stream and resolves once the stream has begun. The stream then continues by itself and
   * holds no reference to its request, since it may last for hours.
   *
   * - A failure before the first item, or a limit of the caller, is thrown while a plain answer is still possible;
   *   later errors are sent in the stream.
   * - A reader that leaves ends the reading of items, never the work of the agent.
   */
  async sendStream(reply: FastifyReply, read: () => AsyncIterable<StreamItem>, framing: StreamFraming): Promise<void> {
    admitStream(reply);
    const given = read();
    const items = given instanceof TaskItems ? await given.openItems() : openIterated(given);
    const first = await firstOf(items);
    reply.hijack();
    reply.request.id = inOnePiece(reply.request.id);
    new EventStream(items, framing, this.open).beginSending(reply, first);
  }

  /** Ends every stream; readers reconnect with the last id they saw, to this or another replica. */
  endAll(): void {
    for (const { value: stream } of this.open) stream.endReading();
  }
}

/**
 * Copies a string into one contiguous string. Node builds a request id by joining some fifteen strings; all of them
 * would stay in memory while the stream is open.
 */
function inOnePiece(id: string): string {
  return Buffer.from(id).toString();
}

async function firstOf(items: OpenItems): Promise<StreamItems> {
  try {
    return await items.readItems();
  } catch (error) {
    items.close();
    throw error;
  }
}

/**
 * Single open event stream to a reader. While no items are available, this object is all that the stream takes in
 * memory. `wake` makes the stream send until no item is left. It pauses while its reader is slow.
 */
class EventStream {
  private readonly place: ReturnType<OpenStreams['add']>;
  private stream: SseStream | undefined;
  private isRunning = true;
  private isWoken = false;
  private isOver = false;

  constructor(
    private readonly items: OpenItems,
    private readonly framing: StreamFraming,
    open: OpenStreams,
  ) {
    this.place = open.add(this);
    items.reader = this;
  }

  beginSending(reply: FastifyReply, first: StreamItems): void {
    const headers = reply.getHeaders() as OutgoingHttpHeaders;
    const isHttpx = reply.request.headers['user-agent']?.startsWith('python-httpx/') === true;
    this.stream = new SseStream(reply.raw, {
      headers,
      owner: this,
      ...(isHttpx && { heartbeatMs: HTTPX_HEARTBEAT_MS }),
    });
    void this.runUntilIdle(this.stream, first);
  }

  /** Notes that there may be items to send, and starts sending. */
  wake(): void {
    this.isWoken = true;
    if (this.isRunning || this.isOver || !this.stream) return;
    this.isRunning = true;
    void this.runUntilIdle(this.stream, NONE);
  }

  /** Ends the stream after the item that is being sent, also if the reader has left. Idempotent. */
  endReading(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.place.leaveSet();
    this.items.close();
    this.stream?.endStream();
  }

  /** Sends items until none are available. Never rejects. */
  private async runUntilIdle(stream: SseStream, begun: StreamItems): Promise<void> {
    try {
      for (let items = begun; items; items = await this.readNextItems()) {
        for (const item of items) {
          await stream.sendFrame({ id: item.sequence, data: this.framing.frameItem(item) });
          if (this.isOver || this.framing.isLast?.(item)) return this.endReading();
        }
        if (items.length === 0 && !this.isWoken) {
          this.isRunning = false;
          return;
        }
      }
    } catch (error) {
      if (!this.isOver) await stream.sendFrame(this.framing.frameError(publicError(error)));
    }
    this.endReading();
  }

  private readNextItems(): Promise<StreamItems> {
    this.isWoken = false;
    return this.items.readItems();
  }
}

const NONE: readonly StreamItem[] = [];

/**
 * Reads the cursor of an A2A stream: the last sequence that a returning reader has seen. It is in the `Last-Event-ID`
 * header, which event sources send automatically, else in `?since=`; without either, the options are empty.
 * @throws A2AError INVALID_PARAMS for an invalid sequence
 */
export function resumeCursor(request: FastifyRequest): SubscriptionOptions {
  const header = request.headers['last-event-id'];
  if (typeof header === 'string' && header !== '') return readSequence('Last-Event-ID', header);
  const { since } = request.query as Record<string, unknown>;
  return since === undefined || since === '' ? {} : readSequence('since', since);
}

function readSequence(field: string, value: unknown): SubscriptionOptions {
  if (typeof value === 'string' && /^\d{1,10}$/.test(value)) return { since: Number(value), sinceField: field };
  throw invalidParams({ field, description: 'must be a sequence number' });
}
