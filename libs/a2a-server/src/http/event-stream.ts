import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { admitStream } from '#libs/access';
import { SseStream } from '#libs/http';
import type { A2AError } from '#libs/protocol';
import { PassingSet } from '#libs/service';
import { publicError } from '../public-error.js';
import type { StreamItem } from '../stream-item.js';
import { type OpenItems, openIterated, TaskItems } from '../task-items.js';

/** How a binding writes the items and errors of a stream. */
export interface StreamFraming {
  item(item: Pick<StreamItem, 'json' | 'response'>): string;
  /** An error that comes up after the first item; `event` is its SSE type. */
  error(error: A2AError): { event?: string; data: string };
  /** Whether the stream ends with an item, whatever would follow. */
  isLast?(item: StreamItem): boolean;
}

type Items = readonly StreamItem[] | undefined;
type OpenStreams = PassingSet<EventStream>;

/** The streams that are open, so that a shutdown can end them. */
export class EventStreams {
  private readonly open: OpenStreams = new PassingSet();

  /**
   * Answers with a stream and resolves once it has begun; it goes on by itself, so that a stream of hours keeps nothing
   * of the request that asked for it. What makes the first item fail is thrown, as is a limit that the caller has
   * reached, while a plain answer is still possible; later errors are reported in the stream. The reader's leaving ends
   * the reading, never the work.
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

  /** Ends every stream; readers come back with the last id they saw, here or at another replica. */
  endAll(): void {
    for (const { value: stream } of this.open) stream.end();
  }
}

/** Node puts an id together from some fifteen texts, all of which would stay for as long as the stream is open. */
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
 * One stream, which is all that there is of it while it waits: it runs from being woken until there is nothing more to
 * send, and stands still while its reader is slow.
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

  /** There may be something to send. */
  wake(): void {
    this.isWoken = true;
    if (this.isRunning || this.isOver || !this.stream) return;
    this.isRunning = true;
    void this.run(this.stream, NONE);
  }

  /** After what is being sent, also where the reader has left. Idempotent. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.place.leave();
    this.items.close();
    this.stream?.end();
  }

  /** Never rejects. */
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
