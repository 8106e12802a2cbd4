import { randomUUID } from 'node:crypto';
import { statusUpdate, userMessage } from '#libs/protocol';
import type { TaskEvent, TaskStore } from '#libs/tasks';
import { newDraft, REPLICA } from './task-draft.js';

const HOUR = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms);
const soon = () => ago(-HOUR);
const due = () => ago(1);

/** What every TaskStore promises of parked Tasks; `living` gives the id of one more replica that lives. */
export function describeParkedTasks(name: string, open: () => TaskStore, living: () => Promise<string>): void {
  describe(`${name} keeps the promises of TaskStore for a parked Task:`, () => {
    let store: TaskStore;
    beforeAll(() => {
      store = open();
    });

    it('has no claim from the event on that parks it, and keeps the time, also where that is its first batch', async () => {
      const replicaId = `parks-${randomUUID()}`;
      const [first, later] = [newDraft({ replicaId }), newDraft({ replicaId })];
      const until = soon();
      await store.writeBatch([first.created(first.parked(until)), later.created(later.status('TASK_STATE_WORKING'))]);
      expect(await store.writeBatch([later.continued(later.token, 2, later.parked(until))])).toEqual(['written']);
      expect(await store.listClaims(replicaId)).toEqual([]);
      for (const { taskId } of [first, later]) {
        expect(await store.readHeader(taskId)).toMatchObject({ state: 'TASK_STATE_WORKING', wakeAt: until });
      }
      expect(await store.adoptTasks(await living(), [replicaId], 10)).toEqual([]);
      const late = later.continued(later.token, 3, later.status('TASK_STATE_COMPLETED'));
      expect(await store.writeBatch([late])).toEqual(['fenced']);
    });

    it('stays as it was where the event that parks it is fenced', async () => {
      const draft = newDraft();
      await store.writeBatch([draft.created()]);
      const parked = draft.continued('another token', 1, draft.parked(due()));
      expect(await store.writeBatch([parked])).toEqual(['fenced']);
      expect(await store.readHeader(draft.taskId)).not.toHaveProperty('wakeAt');
      expect(await store.claimTask(draft.taskId, 'other', randomUUID(), 'due')).toBeUndefined();
    });

    it('is given to one of those who wake it, when its time has come', async () => {
      const [now, later] = [newDraft(), newDraft()];
      await store.writeBatch([now.created(now.parked(due())), later.created(later.parked(soon()))]);
      const wake = (taskId: string) => store.claimTask(taskId, 'other', randomUUID(), 'due');
      expect(await wake(later.taskId)).toBeUndefined();
      const claims = await Promise.all(Array.from({ length: 8 }, () => wake(now.taskId)));
      expect(claims.filter((it) => it !== undefined)).toHaveLength(1);
      expect(await wake(now.taskId)).toBeUndefined();
    });

    it('is not due any more once it was gone on with, or has ended', async () => {
      const [going, ended] = [newDraft(), newDraft()];
      await store.writeBatch([going.created(going.parked(due())), ended.created(ended.parked(due()))]);
      for (const [draft, state] of [
        [going, 'TASK_STATE_WORKING'],
        [ended, 'TASK_STATE_COMPLETED'],
      ] as const) {
        const token = randomUUID();
        await store.claimTask(draft.taskId, REPLICA, token, 'due');
        await store.writeBatch([draft.continued(token, 2, draft.status(state))]);
        await store.releaseClaim({ taskId: draft.taskId, token });
        expect(await store.readHeader(draft.taskId)).not.toHaveProperty('wakeAt');
        expect(await store.claimTask(draft.taskId, REPLICA, randomUUID(), 'due')).toBeUndefined();
      }
    });

    it('stays parked where whoever claimed it wrote nothing', async () => {
      const draft = newDraft();
      await store.writeBatch([draft.created(draft.parked(due()))]);
      await store.claimTask(draft.taskId, REPLICA, 'mine');
      expect(await store.findOverdue(0, 1_000)).not.toContain(draft.taskId);
      await store.releaseClaim({ taskId: draft.taskId, token: 'mine' });
      expect(await store.findOverdue(0, 1_000)).toContain(draft.taskId);
      expect(await store.claimTask(draft.taskId, REPLICA, randomUUID(), 'due')).toBeDefined();
    });

    it('keeps its claim while it is at work, whoever gives that back', async () => {
      const draft = newDraft();
      await store.writeBatch([draft.created(draft.status('TASK_STATE_INPUT_REQUIRED'))]);
      await store.claimTask(draft.taskId, REPLICA, 'mine');
      await store.writeBatch([draft.continued('mine', 2, draft.status('TASK_STATE_WORKING'))]);
      await store.releaseClaim({ taskId: draft.taskId, token: 'mine' });
      expect(await store.isClaimHeld({ taskId: draft.taskId, token: 'mine' })).toBe(true);
    });

    it('takes no Message while it works, and one while it asks', async () => {
      const [working, asking] = [newDraft(), newDraft()];
      await store.writeBatch([
        working.created(working.parked(soon())),
        asking.created(asking.parked(soon(), 'TASK_STATE_INPUT_REQUIRED')),
      ]);
      expect(await store.claimTask(working.taskId, REPLICA, randomUUID(), 'waiting')).toBeUndefined();
      const token = randomUUID();
      expect(await store.claimTask(asking.taskId, REPLICA, token, 'waiting')).toBeDefined();
      const answered: TaskEvent = { ...statusUpdate(asking, 'TASK_STATE_WORKING'), received: userMessage('yes') };
      const again = asking.parked(soon(), 'TASK_STATE_INPUT_REQUIRED');
      expect(await store.writeBatch([asking.continued(token, 2, answered, again)])).toEqual(['written']);
      expect((await store.readHeader(asking.taskId))?.wakeAt).toBeDefined();
    });

    it('is overdue in the order of its time, so long after it', async () => {
      const [late, later, asking, ended] = [newDraft(), newDraft(), newDraft(), newDraft()];
      await store.writeBatch([
        late.created(late.parked(ago(HOUR))),
        later.created(later.parked(ago(2 * HOUR))),
        asking.created(asking.parked(ago(3 * HOUR), 'TASK_STATE_INPUT_REQUIRED')),
        ended.created(ended.status('TASK_STATE_COMPLETED')),
      ]);
      const known = new Set([late, later, asking, ended].map(({ taskId }) => taskId));
      const overdue = async (byMs: number) => (await store.findOverdue(byMs, 1_000)).filter((it) => known.has(it));
      expect(await overdue(HOUR / 2)).toEqual([asking.taskId, later.taskId, late.taskId]);
      expect(await overdue(1.5 * HOUR)).toEqual([asking.taskId, later.taskId]);
      expect(await store.findOverdue(0, 1)).toHaveLength(1);
      const [first] = await store.findOverdue(0, 1);
      expect(await store.findOverdue(0, 1, [first!, late.taskId])).not.toContain(first);
      const others = await store.findOverdue(0, 1_000, [asking.taskId, late.taskId]);
      expect(others.filter((it) => known.has(it))).toEqual([later.taskId]);
    });

    it('is due at once where somebody wishes to cancel it, before it is parked or after', async () => {
      const [before, after] = [newDraft(), newDraft()];
      await store.writeBatch([before.created(), after.created(after.parked(soon()))]);
      await store.requestCancel(before.taskId);
      await store.writeBatch([before.continued(before.token, 1, before.parked(soon()))]);
      await store.requestCancel(after.taskId);
      for (const { taskId } of [before, after]) {
        expect(await store.findOverdue(0, 1_000)).toContain(taskId);
        expect(await store.claimTask(taskId, REPLICA, randomUUID(), 'due')).toBeDefined();
      }
    });

    it('is as due where it only waits, and says that somebody wishes so; not where it has ended', async () => {
      const [before, after, ended] = [newDraft(), newDraft(), newDraft()];
      const asks = 'TASK_STATE_INPUT_REQUIRED';
      await store.writeBatch([before.created(), after.created(after.status(asks)), ended.created()]);
      for (const { taskId } of [before, ended]) await store.requestCancel(taskId);
      await store.writeBatch([
        before.continued(before.token, 1, before.status(asks)),
        ended.continued(ended.token, 1, ended.status('TASK_STATE_COMPLETED')),
      ]);
      expect(await store.readHeader(after.taskId)).not.toHaveProperty('cancelRequested');
      await store.requestCancel(after.taskId);
      expect(await store.findOverdue(0, 1_000)).not.toContain(ended.taskId);
      for (const { taskId } of [before, after]) {
        expect(await store.findOverdue(0, 1_000)).toContain(taskId);
        const claimed = await store.claimTask(taskId, REPLICA, randomUUID(), 'due');
        expect(claimed?.header).toMatchObject({ state: asks, cancelRequested: true });
      }
    });
  });
}
