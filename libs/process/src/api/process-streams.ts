import { Injectable } from '@nestjs/common';
import { malformed, PassingText, sendEvents, type SseFrame, type StreamCursor, type StreamEnd } from '#libs/http';
import { Shutdown } from '#libs/service';
import { type RecordedEvent, TaskFeed, type TaskHeader, type TaskScope, TaskStore } from '#libs/tasks';
import type { FastifyReply } from 'fastify';

/** The events of one process, as its readers get them. */
export interface ProcessEvents {
  /** The number of the last one so far. */
  last: number;
  /** Those after a number: first from the log, then live. */
  after: (number: number, signal: AbortSignal) => AsyncIterable<SseFrame>;
}

/** What an event of a process's log is to its readers; it keeps its number. */
type Projection = (recorded: RecordedEvent) => { sequence: number; type: string };

/**
 * Sends the events of processes to readers, first from the log and then live. Streams only read: however one ends, the
 * process goes on, and a reader that comes back with its last event's id misses nothing and sees nothing twice.
 */
@Injectable()
export class ProcessStreams {
  constructor(
    private readonly feed: TaskFeed,
    private readonly tasks: TaskStore,
    private readonly shutdown: Shutdown,
  ) {}

  /**
   * Takes the reply over and sends the events after a cursor; resolves when the stream has ended.
   * @throws ProblemError 400 for a cursor beyond the last event
   */
  async send(
    { last, after: eventsAfter }: ProcessEvents,
    { after, field }: StreamCursor,
    reply: FastifyReply,
  ): Promise<StreamEnd> {
    if (after > last) throw malformed({ path: field, detail: `is beyond the last event, ${last}` });
    return sendEvents(reply, this.shutdown, (signal) => eventsAfter(after, signal));
  }

  /**
   * One event for each of a process's log.
   * @param until what ends the stream: the end of the process, also that it waits for its caller, or the last event so far
   */
  eventsOf(
    { taskId, lastSequence, tenant, owner }: Pick<TaskHeader, 'taskId' | 'lastSequence'> & Partial<TaskScope>,
    project: Projection,
    until: 'terminal' | 'waiting' | 'now' = 'terminal',
  ): ProcessEvents {
    const follow = until === 'now' ? 'terminal' : until;
    const reader = tenant === undefined || owner === undefined ? undefined : { tenant, owner };
    const after = (number: number, signal: AbortSignal): AsyncGenerator<SseFrame> => {
      const frames = this.frames(taskId, number, project, { signal, until: follow, reader });
      return until === 'now' ? upTo(lastSequence, number, frames) : frames;
    };
    return { last: lastSequence, after };
  }

  /** A wait that the process has gone on from does not end the stream. */
  private async *frames(
    taskId: string,
    after: number,
    project: Projection,
    follow: { signal: AbortSignal; until: 'terminal' | 'waiting'; reader?: TaskScope },
  ): AsyncGenerator<SseFrame> {
    for (let last = after; ;) {
      for await (const recorded of this.feed.follow(taskId, last, follow)) {
        last = recorded.sequence;
        yield frameOf(recorded, project);
      }
      if (follow.signal.aborted || follow.until === 'terminal') return;
      const header = await this.tasks.header(taskId);
      if (header === undefined || header.lastSequence <= last) return;
    }
  }
}

/** Returns a frame whose text is made when there is room for it: many readers may show one large event. */
function frameOf(recorded: RecordedEvent, project: Projection): SseFrame {
  const event = project(recorded);
  const data = new PassingText(recorded.json.length, () => JSON.stringify(event));
  return { id: event.sequence, event: event.type, data };
}

/** The frames until one has a number; none where a reader has that one already. */
async function* upTo(last: number, seen: number, frames: AsyncGenerator<SseFrame>): AsyncGenerator<SseFrame> {
  if (seen >= last) return;
  for await (const frame of frames) {
    yield frame;
    if (Number(frame.id) >= last) return;
  }
}
