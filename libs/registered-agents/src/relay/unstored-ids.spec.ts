import { setTimeout as delay } from 'node:timers/promises';
import { statusUpdate } from '#libs/protocol';
import type { RemoteIds } from '#libs/tasks';
import { UnstoredIds } from './unstored-ids.js';

const IDS: RemoteIds = { taskId: 'task-1', contextId: 'context-1' };
const NEWER: RemoteIds = { taskId: 'task-2', contextId: 'context-2' };
const event = statusUpdate({ taskId: 't', contextId: 'c' }, 'TASK_STATE_WORKING');

/** Creates UnstoredIds. @returns it, and the ids that were stored without an event */
function startIds(store: (ids: RemoteIds) => Promise<void> = async () => undefined) {
  const stored: RemoteIds[] = [];
  const ids = new UnstoredIds(async (it) => {
    stored.push(it);
    await store(it);
  });
  return { ids, stored };
}

it('adds the ids to the next event alone, and stores nothing else', async () => {
  const { ids, stored } = startIds();
  ids.noteIds(IDS);
  expect(await ids.addTo(event)).toEqual({ ...event, remote: IDS });
  expect(await ids.addTo(event)).toBe(event);
  await ids.storeRest();
  expect(stored).toEqual([]);
});

it('stores the ids alone if no event follows', async () => {
  const done = Promise.withResolvers<void>();
  const { ids, stored } = startIds(async () => done.resolve());
  ids.noteIds(IDS);
  await done.promise;
  expect(await ids.addTo(event)).toBe(event);
  expect(stored).toEqual([IDS]);
});

it('lets an event and newer ids wait for a store under way', async () => {
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const { ids } = startIds(async ({ contextId }) => {
    order.push(`${contextId} begins`);
    await gate.promise;
    order.push(`${contextId} ends`);
  });
  ids.noteIds(IDS);
  const first = ids.storeRest();
  await delay(0);
  ids.noteIds(NEWER);
  const added = ids.addTo(event).then((it) => order.push('remote' in it ? 'an event with ids' : 'an event'));
  gate.resolve();
  await Promise.all([first, added]);
  expect(order).toEqual(['context-1 begins', 'context-1 ends', 'an event with ids']);
});

it('gives the turn the error of a store', async () => {
  const { ids } = startIds(() => Promise.reject(new Error('away')));
  ids.noteIds(IDS);
  await expect(ids.storeRest()).rejects.toThrow('away');
  await expect(ids.addTo(event)).rejects.toThrow('away');
});

it('returns the newest ids although an event has brought them, and stores no more by itself', async () => {
  const { ids, stored } = startIds();
  ids.noteIds(IDS);
  await ids.addTo(event);
  expect(await ids.takeNewest()).toEqual(IDS);
  ids.noteIds(NEWER);
  expect(await ids.takeNewest()).toEqual(NEWER);
  await ids.storeRest();
  expect(stored).toEqual([]);
});
