import { Injectable } from '@nestjs/common';
import { sendEvents, type SseFrame, type StreamEnd } from '#libs/http';
import { Shutdown } from '#libs/service';
import { TaskFeed, TaskStore } from '#libs/tasks';
import type { FastifyReply } from 'fastify';
import { toBrainstormEvent } from '../brainstorm-event.js';

/**
 * Sends a brainstorm's events to readers, first from its log and then live, until it rests or has ended. A reader that
 * comes back with its last event's id misses nothing.
 */
@Injectable()
export class BrainstormStreams {
  constructor(
    private readonly tasks: TaskStore,
    private readonly feed: TaskFeed,
    private readonly shutdown: Shutdown,
  ) {}

  /**
   * Takes the reply over; resolves when the stream has ended.
   * @param after the number of the last event that the reader saw
   */
  send(brainstormId: string, after: number, reply: FastifyReply): Promise<StreamEnd> {
    return sendEvents(reply, this.shutdown, (signal) => this.frames(brainstormId, after, signal));
  }

  /** Rests that the brainstorm has gone on from are passed over. */
  private async *frames(brainstormId: string, after: number, signal: AbortSignal): AsyncGenerator<SseFrame> {
    for (let last = after; ;) {
      for await (const recorded of this.feed.follow(brainstormId, last, { signal, until: 'waiting' })) {
        last = recorded.sequence;
        const event = toBrainstormEvent(recorded);
        yield { id: event.sequence, event: event.type, data: JSON.stringify(event) };
      }
      if (signal.aborted) return;
      const header = await this.tasks.header(brainstormId);
      if (header === undefined || header.lastSequence <= last) return;
    }
  }
}
