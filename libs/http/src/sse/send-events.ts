import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Shutdown } from '#libs/service';
import type { SseFrame } from './sse-frame.js';
import { SseStream } from './sse-stream.js';

/**
 * End of a stream. `done`: everything was sent; `left`: the reader has gone; `shutdown`: this process is shutting down.
 */
export type StreamEnd = 'done' | 'left' | 'shutdown';

/**
 * Takes over the reply and sends frames as they come; resolves when the stream has ended. Ending a stream does not
 * affect what it reports on.
 * @param frames gets the signal that its reader has gone or this process is shutting down
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
