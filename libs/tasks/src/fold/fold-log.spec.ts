import { statusUpdate } from '#libs/protocol';
import type { TaskHeader } from '../store/task-store.js';
import { wholeLog } from './fold-log.js';
import type { RecordedEvent } from './task-event.js';

const TASK = { taskId: 't', contextId: 'c' };
const EVENTS = [1, 2, 3].map((sequence) => ({
  sequence,
  event: statusUpdate(TASK, 'TASK_STATE_WORKING'),
})) as unknown as RecordedEvent[];
const HEADER = { ...TASK, tenant: 'acme', owner: 'ann', lastSequence: 2 } as unknown as TaskHeader;

/** Creates a store with one log, and records the calls to it. */
function storeOf(bytes: number, isShort: boolean) {
  const done: string[] = [];
  const store = {
    readLog: async () => ({
      header: { ...HEADER, size: { log: bytes, artifacts: 0 } },
      ...(isShort && { events: EVENTS }),
    }),
    readEvents: async (_taskId: string, after: number, limit: number, reader?: object) => {
      done.push(`read ${after + 1} to ${after + limit} for ${JSON.stringify(reader)}`);
      return EVENTS.slice(after, after + limit);
    },
  };
  const admission = { admitBytes: async (room: number) => void done.push(`admit ${room}`) };
  return { done, read: (): Promise<readonly RecordedEvent[]> => wholeLog(store as never, HEADER, admission) };
}

describe('wholeLog', () => {
  it('takes room for all copies of a long log before it is read in the turn of its caller', async () => {
    const { done, read } = storeOf(1_000, false);
    expect(await read()).toEqual(EVENTS.slice(0, 2));
    expect(done).toEqual(['admit 4000', 'read 1 to 2 for {"tenant":"acme","owner":"ann"}']);
  });

  it('takes none for a short log, and ends with its header', async () => {
    const { done, read } = storeOf(1_000, true);
    expect(await read()).toEqual(EVENTS.slice(0, 2));
    expect(done).toEqual([]);
  });
});
