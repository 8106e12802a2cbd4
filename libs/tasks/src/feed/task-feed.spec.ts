import type { ReplicaSignals, SignalHandler, SignalSubscription, SignalTopic } from '#libs/postgres';
import { statusUpdate, submittedTask, type TaskState, userMessage } from '#libs/protocol';
import { type RecordedEvent, type TaskEvent, toStreamResponse } from '../fold/task-event.js';
import type { TaskHeader, TaskStore } from '../store/task-store.js';
import { TaskFeed } from './task-feed.js';

const NEVER = 2 ** 31 - 1;

/** Fake of the signals between replicas, which a test sends itself. */
class FakeSignals implements ReplicaSignals {
  readonly sent: string[] = [];
  readonly watched: string[] = [];
  handler: SignalHandler = { wakeFor: () => undefined, catchUp: () => undefined };

  sendSignal(_topic: SignalTopic, key: string): void {
    this.sent.push(key);
  }

  subscribeTopic(_topic: SignalTopic, handler: SignalHandler): SignalSubscription {
    this.handler = handler;
    return {
      watchKey: (key) => void this.watched.push(key),
      unwatchKey: (key) => void this.watched.splice(this.watched.indexOf(key), 1),
    };
  }
}

/** Log of one Task that another replica writes. */
class Log {
  readonly events: RecordedEvent[] = [];
  reads = 0;

  add(state: TaskState): RecordedEvent {
    const reference = { taskId: 't', contextId: 'c' };
    const event: TaskEvent =
      this.events.length === 0
        ? { task: submittedTask(reference, userMessage('go')) }
        : statusUpdate(reference, state, String(this.events.length));
    const json = JSON.stringify(toStreamResponse(event));
    const recorded = { taskId: 't', sequence: this.events.length + 1, event, json };
    this.events.push(recorded);
    return recorded;
  }

  /** Errors with which the next reads fail. */
  readonly failures: Error[] = [];

  readonly store = {
    readEvents: (_taskId: string, after: number, limit: number) => {
      this.reads += 1;
      const failure = this.failures.shift();
      if (failure) return Promise.reject(failure);
      return Promise.resolve(this.events.slice(after, after + limit));
    },
    readHeader: () => Promise.resolve({ state: 'TASK_STATE_WORKING', lastSequence: this.events.length } as TaskHeader),
    lastSequences: () => Promise.resolve(new Map([['t', this.events.length]])),
  } as unknown as TaskStore;
}

let log: Log;
let signals: FakeSignals;
let feed: TaskFeed;

beforeEach(() => {
  log = new Log();
  signals = new FakeSignals();
  feed = new TaskFeed(log.store, signals, NEVER);
  log.add('TASK_STATE_SUBMITTED');
});

afterEach(() => feed.onModuleDestroy());

describe('TaskFeed where the store cannot be read', () => {
  it('waits while the database is out of reach, and goes on without a gap', async () => {
    log.failures.push(
      new Error('Connection terminated unexpectedly'),
      Object.assign(new Error('x'), { code: '57P03' }),
    );
    const reader = feed.followTask('t', 0);
    expect(await sequence(reader)).toBe(1);
    expect(log.reads).toBe(3);
    await reader.return(undefined);
  });

  it('ends without an error when its reader leaves meanwhile', async () => {
    const leaving = new AbortController();
    const failure = new Error('Connection terminated unexpectedly');
    log.failures.push(...Array.from({ length: 100 }, () => failure));
    const next = feed.followTask('t', 0, { signal: leaving.signal }).next();
    await turns();
    leaving.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('tells any other failure', async () => {
    log.failures.push(new Error('a mistake'));
    await expect(feed.followTask('t', 0).next()).rejects.toThrow('a mistake');
  });
});

describe('TaskFeed beside other replicas', () => {
  it('a signal wakes who follows what others execute, with one read', async () => {
    const reader = feed.followTask('t', 0);
    expect(await sequence(reader)).toBe(1);
    const next = sequence(reader);
    await turns();
    expect(signals.watched).toEqual(['t']);
    const before = log.reads;
    log.add('TASK_STATE_WORKING');
    signals.handler.wakeFor('t');
    expect(await next).toBe(2);
    expect(log.reads).toBe(before + 1);
    await reader.return(undefined);
    expect(signals.watched).toEqual([]);
  });

  it('hearing anew wakes who is behind, and nobody else', async () => {
    const reader = feed.followTask('t', 0);
    await sequence(reader);
    const next = sequence(reader);
    await turns();
    const before = log.reads;
    signals.handler.catchUp();
    await turns();
    expect(log.reads).toBe(before);
    log.add('TASK_STATE_WORKING');
    signals.handler.catchUp();
    expect(await next).toBe(2);
  });

  it('without any signal the poll wakes', async () => {
    feed.onModuleDestroy();
    feed = new TaskFeed(log.store, signals, 5);
    const reader = feed.followTask('t', 0);
    await sequence(reader);
    const next = sequence(reader);
    await turns();
    log.add('TASK_STATE_WORKING');
    expect(await next).toBe(2);
    await reader.return(undefined);
  });

  it('who follows a Task from the end that this process takes it up at reads nothing', async () => {
    log.add('TASK_STATE_WORKING');
    feed.openTask('t', 2);
    const reader = feed.followTask('t', 2);
    const next = sequence(reader);
    await turns();
    expect([log.reads, signals.watched]).toEqual([0, []]);
    feed.publishEvents([log.add('TASK_STATE_WORKING')]);
    expect(await next).toBe(3);
    expect(log.reads).toBe(0);
  });

  it('who is behind where this process takes the Task up reads what another one wrote, without a signal', async () => {
    const reader = feed.followTask('t', 0);
    expect(await sequence(reader)).toBe(1);
    const next = sequence(reader);
    await turns();
    log.add('TASK_STATE_WORKING');
    feed.openTask('t', 2);
    expect(await next).toBe(2);
  });

  it('a signal that comes while the log is read is not lost', async () => {
    const reader = feed.followTask('t', 1);
    const { readEvents: events } = log.store;
    log.store.readEvents = async (...range) => {
      const read = await events(...range);
      if (log.events.length === 1) {
        log.add('TASK_STATE_WORKING');
        signals.handler.wakeFor('t');
      }
      return read;
    };
    expect(await sequence(reader)).toBe(2);
  });

  it('tells others of what it publishes, and listens to nobody while the Task is executed here', async () => {
    feed.publishEvents([log.events[0]!]);
    expect(signals.sent).toEqual(['t']);
    const reader = feed.followTask('t', 0);
    expect(await sequence(reader)).toBe(1);
    const next = sequence(reader);
    await turns();
    expect(signals.watched).toEqual([]);
    feed.closeTask('t');
    await turns();
    expect(signals.watched).toEqual(['t']);
    log.add('TASK_STATE_COMPLETED');
    signals.handler.wakeFor('t');
    expect(await next).toBe(2);
    expect((await reader.next()).done).toBe(true);
  });
});

async function sequence(reader: AsyncGenerator<RecordedEvent>): Promise<number | undefined> {
  const { value } = (await reader.next()) as IteratorResult<RecordedEvent, undefined>;
  return value?.sequence;
}

/**
 * Waits for twenty cycles of the event loop, in which all code runs that does not wait for a further answer of the
 * test.
 */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
