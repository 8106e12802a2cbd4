import { Injectable } from '@nestjs/common';
import { malformed, sendEvents, type SseFrame } from '#libs/http';
import { Shutdown } from '#libs/service';
import { type StoredTask, TaskFeed, TaskStore } from '#libs/tasks';
import type { FastifyReply } from 'fastify';
import { a2aEvent, type A2aEvent } from '../a2a-event.js';
import { readSettings } from '../conversation-metadata.js';
import { ConversationState } from '../conversation-state.js';
import { outcomeOf } from '../conversation-view.js';

/**
 * Sends a conversation's events to readers, first from its log and then live, until the complete event. Streams only
 * read: a reader that comes back with the last number it saw misses nothing and sees nothing twice.
 */
@Injectable()
export class ConversationStreams {
  constructor(
    private readonly tasks: TaskStore,
    private readonly feed: TaskFeed,
    private readonly shutdown: Shutdown,
  ) {}

  /**
   * Takes the reply over; resolves when the stream has ended.
   * @param after the number of the last event that the reader saw
   */
  async send(conversation: StoredTask, after: number, reply: FastifyReply): Promise<void> {
    const last = await this.lastNumber(conversation);
    if (after > last) throw malformed({ path: 'since', detail: `is beyond the last event, ${last}` });
    await sendEvents(reply, this.shutdown, (signal) => this.frames(conversation, after, signal));
  }

  private async *frames(conversation: StoredTask, after: number, signal: AbortSignal): AsyncGenerator<SseFrame> {
    for await (const event of this.events(conversation, signal)) {
      if (event.cseq > after) yield { id: event.cseq, event: 'a2a', data: JSON.stringify(event) };
    }
  }

  private async lastNumber({ header }: StoredTask): Promise<number> {
    const log = await this.tasks.events(header.taskId, 0, header.lastSequence);
    const state = ConversationState.of(
      header.taskId,
      log.map(({ event }) => event),
    );
    return state.dialogue.told.length + (state.cut ? 1 : 0);
  }

  /** The whole log is read: how the events are numbered is known only from the first one on. */
  private async *events({ header, task }: StoredTask, signal: AbortSignal): AsyncGenerator<A2aEvent> {
    const settings = readSettings(task.metadata);
    if (!settings) return;
    const state = new ConversationState(header.taskId, settings, false);
    for await (const { event } of this.feed.follow(header.taskId, 0, { signal })) {
      const told = state.apply(event);
      if (told) yield told;
      if (state.cut) yield a2aEvent(state.dialogue.completed(outcomeOf(state)), state.dialogue.told, state.changedAt);
      if (state.cut || state.dialogue.outcome !== undefined) return;
    }
  }
}
