import type { OutgoingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Shutdown, SseStream } from '#libs/platform';
import { type TaskHeader, TaskFeed } from '#libs/tasks';
import type { FastifyReply } from 'fastify';
import { toRunEvent } from '../run-event.js';
import { workflowOf } from './run-task.js';

/** `done`: the run has ended and all was sent; `left`: the reader is gone; `shutdown`: this process is going. */
export type StreamEnd = 'done' | 'left' | 'shutdown';

/**
 * Sends a run's events to readers, first from its log and then live. Streams only read: however one ends, the run goes
 * on, and a reader that comes back with its last event's id misses nothing.
 */
@Injectable()
export class RunStreams {
  constructor(
    private readonly feed: TaskFeed,
    private readonly shutdown: Shutdown,
  ) {}

  /** Takes the reply over; resolves when the stream has ended. */
  async send(run: Pick<TaskHeader, 'taskId' | 'agent'>, after: number, reply: FastifyReply): Promise<StreamEnd> {
    reply.hijack();
    const stream = new SseStream(reply.raw, { headers: reply.getHeaders() as OutgoingHttpHeaders });
    const workflow = workflowOf(run);
    const signal = AbortSignal.any([stream.closed, this.shutdown.started]);
    try {
      for await (const recorded of this.feed.follow(run.taskId, after, { signal })) {
        const event = toRunEvent(recorded, { workflow });
        await stream.send({ id: event.sequence, event: event.type, data: JSON.stringify(event) });
      }
      if (stream.closed.aborted) return 'left';
      return this.shutdown.started.aborted ? 'shutdown' : 'done';
    } finally {
      stream.end();
    }
  }
}
