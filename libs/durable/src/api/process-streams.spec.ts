import type { FastifyReply } from 'fastify';
import { EventEmitter } from 'node:events';
import { statusUpdate } from '#libs/protocol';
import type { Shutdown } from '#libs/service';
import type { RecordedEvent, TaskFeed, TaskHeader, TaskStore } from '#libs/tasks';
import { ProcessStreams } from './processes.js';

/**
 * Fake log. Its followers end at the events in `waits`, as a follower of TaskFeed ends when the Task waits for its
 * caller.
 */
class Log {
  follows: [number, string][] = [];

  constructor(
    readonly length: number,
    private readonly waits: readonly number[] = [],
  ) {}

  readonly feed = {
    followTask: (_id: string, after: number, { until }: { until: string }) => this.follow(after, until),
  } as unknown as TaskFeed;
  readonly store = {
    readHeader: async () => ({ lastSequence: this.length }) as TaskHeader,
  } as unknown as TaskStore;

  private async *follow(after: number, until: string): AsyncGenerator<RecordedEvent> {
    this.follows.push([after, until]);
    for (let sequence = after + 1; sequence <= this.length; sequence++) {
      const event = statusUpdate({ taskId: 'p1', contextId: 'c' }, 'TASK_STATE_WORKING');
      yield { taskId: 'p1', sequence, event, json: '' };
      if (until === 'waiting' && this.waits.includes(sequence)) return;
    }
  }
}

function streamsOver({ feed, store }: Log): ProcessStreams {
  const shutdown = { started: new AbortController().signal } as Shutdown;
  return new ProcessStreams(feed, store, shutdown);
}

function step({ sequence }: RecordedEvent): { sequence: number; type: string } {
  return { sequence, type: 'step' };
}

/** Response that collects the frames of a stream. */
class Reply {
  text = '';
  readonly raw: EventEmitter = Object.assign(new EventEmitter(), {
    writeHead: () => undefined,
    flushHeaders: () => undefined,
    write: (text: string) => this.add(text),
    end: (text: string) => {
      this.add(text);
      // Otherwise the stream would be closed half a minute later, during the tests of another file.
      this.raw.emit('close');
    },
  });

  hijack(): void {}

  getHeaders(): object {
    return {};
  }

  get ids(): number[] {
    return [...this.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  }

  private add(text: string): boolean {
    this.text += text;
    return true;
  }
}

async function sent(log: Log, after: number, until?: 'waiting', field = 'since'): Promise<Reply> {
  const streams = streamsOver(log);
  const reply = new Reply();
  const events = streams.eventsOf({ taskId: 'p1', lastSequence: log.length }, step, until);
  await streams.streamEvents(events, { after, field }, reply as unknown as FastifyReply);
  return reply;
}

describe('ProcessStreams', () => {
  it('sends one frame for each event after the cursor', async () => {
    const reply = await sent(new Log(3), 1);
    expect(reply.ids).toEqual([2, 3]);
    expect(reply.text).toContain('event: step\ndata: {"sequence":2,"type":"step"}\n\n');
  });

  it('refuses a cursor beyond the last event before anything is sent', async () => {
    for (const field of ['since', 'Last-Event-ID']) {
      const refusal = { status: 400, message: `${field}: is beyond the last event, 3` };
      await expect(sent(new Log(3), 4, undefined, field)).rejects.toMatchObject(refusal);
    }
  });

  it('ends where the process waits, and not at a wait that it has gone on from', async () => {
    const log = new Log(4, [2, 4]);
    expect((await sent(log, 0, 'waiting')).ids).toEqual([1, 2, 3, 4]);
    expect(log.follows).toEqual([
      [0, 'waiting'],
      [2, 'waiting'],
    ]);
  });
});
