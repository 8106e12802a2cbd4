import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  malformedRequest,
  PassingText,
  sendEvents,
  type SseFrame,
  type StreamCursor,
  type StreamEnd,
} from '#libs/http-server';
import { Shutdown } from '#libs/service';
import { type RecordedEvent, TaskFeed, type TaskHeader, type TaskScope, TaskStore } from '#libs/tasks';

/** Events of one process for its readers. */
export interface ProcessEvents {
  /** Number of the last event so far. */
  last: number;
  /** Returns the events after a number: first from the log, then live. */
  framesAfter: (number: number, signal: AbortSignal) => AsyncIterable<SseFrame>;
}

/** Maps an event of a process's log to what readers see; the number stays the same. */
type Projection = (recorded: RecordedEvent) => { sequence: number; type: string };

/**
 * Streams the events of processes to readers, first from the log and then live.
 * - Streams only read: the process continues however a stream ends.
 * - A reader that reconnects with its last event id misses no event and sees none twice.
 */
@Injectable()
export class ProcessStreams {
  constructor(
    private readonly feed: TaskFeed,
    private readonly tasks: TaskStore,
    private readonly shutdown: Shutdown,
  ) {}

  /**
   * Takes over the reply and streams the events after a cursor; resolves when the stream has ended.
   * @throws ProblemError 400 for a cursor beyond the last event
   */
  async streamEvents(
    { last, framesAfter: eventsAfter }: ProcessEvents,
    { after, field }: StreamCursor,
    reply: FastifyReply,
  ): Promise<StreamEnd> {
    if (after > last) throw malformedRequest({ path: field, detail: `is beyond the last event, ${last}` });
    return sendEvents(reply, this.shutdown, (signal) => eventsAfter(after, signal));
  }

  /**
   * Returns the events of a process, one for each event of its log.
   * @param until end of the stream: the end of the process (`terminal`), also its wait for a caller (`waiting`), or the
   * last event so far (`now`)
   */
  eventsOf(
    { taskId, lastSequence, tenant, owner }: Pick<TaskHeader, 'taskId' | 'lastSequence'> & Partial<TaskScope>,
    project: Projection,
    until: 'terminal' | 'waiting' | 'now' = 'terminal',
  ): ProcessEvents {
    const follow = until === 'now' ? 'terminal' : until;
    const reader = tenant === undefined || owner === undefined ? undefined : { tenant, owner };
    const framesAfter = (number: number, signal: AbortSignal): AsyncGenerator<SseFrame> => {
      const frames = this.followFrames(taskId, number, project, { signal, until: follow, reader });
      return until === 'now' ? takeUntil(lastSequence, number, frames) : frames;
    };
    return { last: lastSequence, framesAfter };
  }

  /** Follows the log. A wait from which the process has already resumed does not end the stream. */
  private async *followFrames(
    taskId: string,
    after: number,
    project: Projection,
    follow: { signal: AbortSignal; until: 'terminal' | 'waiting'; reader?: TaskScope },
  ): AsyncGenerator<SseFrame> {
    for (let last = after; ;) {
      for await (const recorded of this.feed.followTask(taskId, last, follow)) {
        last = recorded.sequence;
        yield frameOf(recorded, project);
      }
      if (follow.signal.aborted || follow.until === 'terminal') return;
      const header = await this.tasks.readHeader(taskId);
      if (header === undefined || header.lastSequence <= last) return;
    }
  }
}

/** Returns a frame whose text is built when there is room for it: many readers may read one large event. */
function frameOf(recorded: RecordedEvent, project: Projection): SseFrame {
  const event = project(recorded);
  const data = new PassingText(recorded.json.length, () => JSON.stringify(event));
  return { id: event.sequence, event: event.type, data };
}

/** Passes frames on up to a number; none if a reader already has that one. */
async function* takeUntil(last: number, seen: number, frames: AsyncGenerator<SseFrame>): AsyncGenerator<SseFrame> {
  if (seen >= last) return;
  for await (const frame of frames) {
    yield frame;
    if (Number(frame.id) >= last) return;
  }
}
