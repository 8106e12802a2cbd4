import { jest } from '@jest/globals';
import type { TaskState } from '#libs/protocol';
import type { StoredTask, TaskStore } from '#libs/tasks';
import { claimWaiting, isTaskBusy } from './task-claims.js';

const NEVER = new AbortController().signal;
const ASKS = 'TASK_STATE_INPUT_REQUIRED';

afterEach(() => jest.restoreAllMocks());

/**
 * Claims a Task that another request holds. The clock advances by four seconds with each claim, and not when it is read:
 * it is that of the whole process, where others read it as well.
 */
function claimHeld(
  headers: { state: TaskState; lastSequence: number }[],
  { claimed, signal = NEVER }: { claimed?: StoredTask; signal?: AbortSignal } = {},
): Promise<StoredTask | undefined> {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const store = {
    claimTask: async () => {
      now += 4_000;
      return headers.length > 0 ? undefined : claimed;
    },
    readHeader: async () => (headers.length > 1 || claimed ? headers.shift() : headers[0]),
  } as unknown as TaskStore;
  return claimWaiting(store, { taskId: 't', token: 'b' }, 'r', signal);
}

it('says of a Task that stays held, and waits as before, that its Message may come again', async () => {
  const busy: unknown = await claimHeld([{ state: ASKS, lastSequence: 3 }]).catch((error: unknown) => error);
  expect(busy).toMatchObject({ reason: 'INTERNAL', status: 503, grpc: 'UNAVAILABLE', detailReason: 'TASK_BUSY' });
  expect(isTaskBusy(busy)).toBe(true);
});

it('says the same where this process stops before it is known', async () => {
  const held = claimHeld([{ state: ASKS, lastSequence: 3 }], { signal: AbortSignal.abort() });
  await expect(held).rejects.toMatchObject({ detailReason: 'TASK_BUSY' });
});

it('waits for a claim that its replica finds twelve seconds later and gives back', async () => {
  const claimed = {} as StoredTask;
  const waits = { state: ASKS, lastSequence: 3 } as const;
  expect(await claimHeld([waits, waits, waits], { claimed })).toBe(claimed);
});

it.each<[string, { state: TaskState; lastSequence: number }]>([
  ['is at work by then', { state: 'TASK_STATE_WORKING', lastSequence: 4 }],
  ['has ended by then', { state: 'TASK_STATE_COMPLETED', lastSequence: 5 }],
  ['waits for something else by then', { state: ASKS, lastSequence: 5 }],
])('gives nothing where the Task %s', async (_, then) => {
  expect(await claimHeld([{ state: ASKS, lastSequence: 3 }, then])).toBeUndefined();
});
