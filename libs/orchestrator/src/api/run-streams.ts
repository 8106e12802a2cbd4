import { Injectable } from '@nestjs/common';
import { sendEvents, type SseFrame, type StreamEnd } from '#libs/http';
import { Shutdown } from '#libs/service';
import { type TaskHeader, TaskFeed } from '#libs/tasks';
import type { FastifyReply } from 'fastify';
import { toRunEvent } from '../run-event.js';
import { workflowOf } from './run-task.js';

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
  send(run: Pick<TaskHeader, 'taskId' | 'agent'>, after: number, reply: FastifyReply): Promise<StreamEnd> {
    return sendEvents(reply, this.shutdown, (signal) => this.frames(run, after, signal));
  }

  private async *frames(
    run: Pick<TaskHeader, 'taskId' | 'agent'>,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<SseFrame> {
    const workflow = workflowOf(run);
    for await (const recorded of this.feed.follow(run.taskId, after, { signal })) {
      const event = toRunEvent(recorded, { workflow });
      yield { id: event.sequence, event: event.type, data: JSON.stringify(event) };
    }
  }
}
