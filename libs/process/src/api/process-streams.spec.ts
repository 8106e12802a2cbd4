import { EventEmitter } from 'node:events';
import type { Shutdown } from '#libs/service';
import { statusUpdate } from '#libs/protocol';
import type { RecordedEvent, TaskFeed, TaskHeader, TaskStore } from '#libs/tasks';
import type { FastifyReply } from 'fastify';
import { ProcessStreams } from './process-streams.js';

/** A log whose reader is let go at the events in `waits`, as TaskFeed does for one that waits for its caller. */
class Log {
  follows: [number, string][] = [];

  constructor(
    readonly length: number,
    private readonly waits: readonly number[] = [],
  ) {}

  readonly feed = {
    follow: (_id: string, after: number, { until }: { until: string }) => this.follow(after, until),
  } as unknown as TaskFeed;
  readonly store = {
    header: async () => ({ lastSequence: this.length }) as TaskHeader,
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

/** Where frames go. */
class Reply {
  text = '';
  readonly raw = Object.assign(new EventEmitter(), {
    writeHead: () => undefined,
    flushHeaders: () => undefined,
    write: (text: string) => this.add(text),
    end: (text: string) => this.add(text),
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

async function answer(log: Log, query: object, until?: 'waiting'): Promise<Reply> {
  const streams = streamsOver(log);
  const reply = new Reply();
  await streams.answer({ headers: {}, query }, reply as unknown as FastifyReply, async () =>
    streams.eventsOf({ taskId: 'p1', lastSequence: log.length }, step, until),
  );
  return reply;
}

describe('ProcessStreams', () => {
  it('sends one frame for each event after the cursor', async () => {
    const reply = await answer(new Log(3), { since: '1' });
    expect(reply.ids).toEqual([2, 3]);
    expect(reply.text).toContain('event: step\ndata: {"sequence":2,"type":"step"}\n\n');
  });

  it.each([
    [{ since: '4' }, 'since: is beyond the last event, 3'] as const,
    [{ since: 'x' }, 'since: must be'] as const,
  ])('refuses the cursor %j before anything is sent', async (query, message) => {
    await expect(answer(new Log(3), query)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(message),
    });
  });

  it('looks at the cursor before it looks for the process', async () => {
    const streams = streamsOver(new Log(3));
    const asked = streams.answer({ headers: {}, query: { since: 'x' } }, {} as FastifyReply, () => {
      throw new Error('not found');
    });
    await expect(asked).rejects.toThrow('since: must be the number of an event');
  });

  it('ends where the process waits, and not at a wait that it has gone on from', async () => {
    const log = new Log(4, [2, 4]);
    expect((await answer(log, {}, 'waiting')).ids).toEqual([1, 2, 3, 4]);
    expect(log.follows).toEqual([
      [0, 'waiting'],
      [2, 'waiting'],
    ]);
  });
});
