import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Shutdown } from '#libs/service';
import type { SseFrame } from './sse-frame.js';
import { SseStream } from './sse-stream.js';

/** `done`: all was sent; `left`: the reader is gone; `shutdown`: this process is going. */
export type StreamEnd = 'done' | 'left' | 'shutdown';

/**
 * Takes the reply over and sends the frames as they come; resolves when the stream has ended. Streams only read: however
 * one ends, what it tells of goes on.
 * @param frames gets the signal that its reader is gone or this process is going
 */
export async function sendEvents(
  reply: FastifyReply,
  shutdown: Pick<Shutdown, 'started'>,
  frames: (signal: AbortSignal) => AsyncIterable<SseFrame>,
): Promise<StreamEnd> {
  reply.hijack();
  const stream = new SseStream(reply.raw, { headers: reply.getHeaders() as OutgoingHttpHeaders });
  try {
    for await (const frame of frames(AbortSignal.any([stream.closed, shutdown.started]))) await stream.send(frame);
    if (stream.closed.aborted) return 'left';
    return shutdown.started.aborted ? 'shutdown' : 'done';
  } finally {
    stream.end();
  }
}
