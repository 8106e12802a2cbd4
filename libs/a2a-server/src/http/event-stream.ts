import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { admitStream } from '#libs/access';
import { SseStream } from '#libs/http';
import type { A2AError } from '#libs/protocol';
import { PassingSet } from '#libs/service';
import { publicError } from '../public-error.js';
import type { StreamItem } from '../stream-item.js';
import { type OpenItems, openIterated, TaskItems } from '../task-items.js';

/** Format of the items and errors of a stream in one binding. */
export interface StreamFraming {
  item(item: Pick<StreamItem, 'json' | 'response'>): string;
  /** Formats an error after the first item; `event` is its SSE type. */
  error(error: A2AError): { event?: string; data: string };
  /** True if the stream ends with an item, whatever would follow. */
  isLast?(item: StreamItem): boolean;
}

type Items = readonly StreamItem[] | undefined;
type OpenStreams = PassingSet<EventStream>;

/** Open streams, which a shutdown ends. */
export class EventStreams {
  private readonly open: OpenStreams = new PassingSet();

  /**
   * Answers with a stream and resolves once it has begun. The stream continues by itself, so hours later it retains
   * nothing of its request.
   *
   * - A failure before the first item, or a limit of the caller, is thrown while a plain answer is still possible;
   *   later errors are sent in the stream.
   * - A reader that leaves ends the reading, never the work.
   */
  async send(reply: FastifyReply, read: () => AsyncIterable<StreamItem>, framing: StreamFraming): Promise<void> {
    admitStream(reply);
    const given = read();
    const items = given instanceof TaskItems ? await given.open() : openIterated(given);
    const first = await firstOf(items);
    reply.hijack();
    reply.request.id = inOnePiece(reply.request.id);
    new EventStream(items, framing, this.open).begin(reply, first);
  }

  /** Ends every stream; readers reconnect with the last id they saw, to this or another replica. */
  endAll(): void {
    for (const { value: stream } of this.open) stream.end();
  }
}

/**
 * Flattens a string. Node builds an id from some fifteen strings, all of which would stay in memory while the stream is
 * open.
 */
function inOnePiece(id: string): string {
  return Buffer.from(id).toString();
}

async function firstOf(items: OpenItems): Promise<Items> {
  try {
    return await items.read();
  } catch (error) {
    items.close();
    throw error;
  }
}

/**
 * Single stream, the only state kept while it waits. It runs from being woken until there is nothing more to send, and
 * pauses while its reader is slow.
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

  begin(reply: FastifyReply, first: Items): void {
    const headers = reply.getHeaders() as OutgoingHttpHeaders;
    this.stream = new SseStream(reply.raw, { headers, owner: this });
    void this.run(this.stream, first);
  }

  /** Notes that there may be something to send. */
  wake(): void {
    this.isWoken = true;
    if (this.isRunning || this.isOver || !this.stream) return;
    this.isRunning = true;
    void this.run(this.stream, NONE);
  }

  /** Ends the stream after what is being sent, also if the reader has left. Idempotent. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.place.leave();
    this.items.close();
    this.stream?.end();
  }

  /** Sends items until there are none. Never rejects. */
  private async run(stream: SseStream, begun: Items): Promise<void> {
    try {
      for (let items = begun; items; items = await this.next()) {
        for (const item of items) {
          await stream.send({ id: item.sequence, data: this.framing.item(item) });
          if (this.isOver || this.framing.isLast?.(item)) return this.end();
        }
        if (items.length === 0 && !this.isWoken) {
          this.isRunning = false;
          return;
        }
      }
    } catch (error) {
      if (!this.isOver) await stream.send(this.framing.error(publicError(error)));
    }
    this.end();
  }

  private next(): Promise<Items> {
    this.isWoken = false;
    return this.items.read();
  }
}

const NONE: readonly StreamItem[] = [];
