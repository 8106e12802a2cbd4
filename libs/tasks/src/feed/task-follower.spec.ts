import { ReadEnded } from '#libs/postgres';
import { statusUpdate, submittedTask, type TaskState, userMessage } from '#libs/protocol';
import type { RecordedEvent, TaskEvent } from '../fold/task-event.js';
import type { TaskHeader, TaskScope, TaskStore } from '../store/task-store.js';
import { TaskFeed, type TaskFollower } from './task-feed.js';

const NEVER = 2 ** 31 - 1;
const reference = { taskId: 't', contextId: 'c' };
let log: RecordedEvent[];
let reads: number;
let readers: (TaskScope | undefined)[];
let failure: Error | undefined;
let feed: TaskFeed;
let woken: number;

beforeEach(() => {
  log = [];
  reads = 0;
  readers = [];
  failure = undefined;
  woken = 0;
  const store = {
    readEvents: async (_taskId: string, after: number, limit: number, reader?: TaskScope) => {
      reads += 1;
      readers.push(reader);
      if (failure) throw failure;
      return log.slice(after, after + limit);
    },
    readHeader: async () => ({ state: 'TASK_STATE_WORKING', lastSequence: log.length }) as TaskHeader,
    lastSequences: async () => new Map([['t', log.length]]),
  } as unknown as TaskStore;
  feed = new TaskFeed(store, undefined, NEVER);
  commit({ task: submittedTask(reference, userMessage('go')) });
});

afterEach(() => feed.onModuleDestroy());

function commit(event: TaskEvent | TaskState): void {
  const recorded = typeof event === 'string' ? statusUpdate(reference, event) : event;
  log.push({ taskId: 't', sequence: log.length + 1, event: recorded, json: '{}' });
  feed.publishEvents(log.slice(-1));
}

function open(until?: 'waiting'): TaskFollower {
  const follower = feed.openFollower('t', 0, until);
  follower.reader = { wake: () => void (woken += 1) };
  return follower;
}

async function sequences(follower: TaskFollower): Promise<number[] | undefined> {
  return (await follower.readNext())?.map(({ sequence }) => sequence);
}

describe('TaskFollower', () => {
  it('reads in the turn of its caller, and waits where that does not come in time', async () => {
    feed.closeTask('t');
    const scope = { tenant: '', owner: 'ann' };
    const follower = feed.openFollower('t', 0, 'terminal', scope);
    failure = new ReadEnded('Too many lists are under way');
    const read = sequences(follower);
    await new Promise((resolve) => setImmediate(resolve));
    failure = undefined;
    expect(await read).toEqual([1]);
    expect(readers).toEqual([scope, scope]);
  });

  it('gives each event once, asks for nothing until it is woken, and ends with the Task', async () => {
    const follower = open();
    expect(await sequences(follower)).toEqual([1]);
    expect(await sequences(follower)).toEqual([]);
    expect(woken).toBe(0);
    commit('TASK_STATE_WORKING');
    commit('TASK_STATE_COMPLETED');
    expect(woken).toBe(2);
    expect(await sequences(follower)).toEqual([2, 3]);
    expect(await sequences(follower)).toBeUndefined();
    expect(reads).toBe(0);
  });

  it('ends where the Task waits, whatever came after that', async () => {
    commit('TASK_STATE_INPUT_REQUIRED');
    commit('TASK_STATE_WORKING');
    const follower = open('waiting');
    expect(await sequences(follower)).toEqual([1, 2]);
    expect(await sequences(follower)).toBeUndefined();
  });

  it('has one read of the store for what others wrote, until it is woken', async () => {
    feed.closeTask('t');
    const follower = open();
    expect(await sequences(follower)).toEqual([1]);
    expect(await sequences(follower)).toEqual([]);
    expect(await sequences(follower)).toEqual([]);
    expect(reads).toBe(1);
    follower.wakeBefore(1);
    expect(woken).toBe(0);
    follower.wakeBefore(2);
    expect(woken).toBe(1);
  });

  it('gives nothing once it is closed, also while the database is out of reach, and tells its reader', async () => {
    feed.closeTask('t');
    failure = new Error('Connection terminated unexpectedly');
    const follower = open();
    const reading = sequences(follower);
    await new Promise((resolve) => setImmediate(resolve));
    follower.close();
    follower.close();
    expect(await reading).toBeUndefined();
    expect(woken).toBe(2);
    commit('TASK_STATE_WORKING');
    expect(woken).toBe(2);
  });
});
