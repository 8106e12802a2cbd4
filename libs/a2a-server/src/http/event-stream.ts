import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { admitStream } from '#libs/access';
import { SseStream } from '#libs/http';
import type { A2AError } from '#libs/protocol';
import { PassingSet } from '#libs/service';
import { publicError } from '../public-error.js';
import type { StreamItem } from '../stream-item.js';

/** How a binding writes the items and errors of a stream. */
export interface StreamFraming {
  item(json: string): string;
  /** An error that comes up after the first item; `event` is its SSE type. */
  error(error: A2AError): { event?: string; data: string };
}

/** Shared by all streams: an abort without a reason makes an error with a stack trace for each. */
const READER_LEFT = new Error('The reader has left');
const ENDED_FOR_ALL = new Error('Every stream is ended');

/** The streams that are open, so that a shutdown can end them. */
export class EventStreams {
  private readonly open = new PassingSet<AbortController>();

  /**
   * Answers with a stream and resolves once it has begun; it goes on by itself, so that a stream of hours keeps nothing
   * of the request that asked for it. What makes the first item fail is thrown, as is a limit that the caller has
   * reached, while a plain answer is still possible; later errors are reported in the stream. The reader's leaving ends
   * the reading, never the work.
   */
  async send(
    reply: FastifyReply,
    read: (signal: AbortSignal) => AsyncIterable<StreamItem>,
    framing: StreamFraming,
  ): Promise<void> {
    admitStream(reply);
    const abort = new AbortController();
    const items = read(abort.signal)[Symbol.asyncIterator]();
    const first = await items.next();
    reply.hijack();
    const stream = new SseStream(reply.raw, {
      headers: reply.getHeaders() as OutgoingHttpHeaders,
      onClose: () => abort.abort(READER_LEFT),
    });
    const opened = this.open.add(abort);
    const begun = first.done ? undefined : sendItem(first.value, stream, framing);
    void forward(begun, items, stream, framing).finally(() => opened.leave());
  }

  /** Ends every stream; readers come back with the last id they saw, here or at another replica. */
  endAll(): void {
    for (const { value: abort } of this.open) abort.abort(ENDED_FOR_ALL);
  }
}

/** Never rejects. */
async function forward(
  begun: Promise<void> | undefined,
  items: AsyncIterator<StreamItem>,
  stream: SseStream,
  framing: StreamFraming,
): Promise<void> {
  try {
    await begun;
    while (!stream.isClosed) {
      const item = await items.next();
      if (item.done) break;
      await sendItem(item.value, stream, framing);
    }
    if (stream.isClosed) await items.return?.();
  } catch (error) {
    if (!stream.isClosed) await stream.send(framing.error(publicError(error)));
  }
  stream.end();
}

function sendItem({ sequence, json }: StreamItem, stream: SseStream, framing: StreamFraming): Promise<void> {
  return stream.send({ id: sequence, data: framing.item(json) });
}
