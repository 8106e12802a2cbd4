import { randomUUID } from 'node:crypto';
import { statusUpdate, userMessage } from '#libs/protocol';
import type { TaskEvent, TaskStore } from '#libs/tasks';
import { newDraft, REPLICA } from './task-draft.js';

/** What every TaskStore promises of reads; `open` gives one. */
export function describeTaskReads(name: string, open: () => TaskStore): void {
  describe(`${name} keeps the promises of TaskStore for reads:`, () => {
    let store: TaskStore;
    beforeAll(() => {
      store = open();
    });

    describe('list without Artifacts', () => {
      it('gives Tasks as they are but for their Artifacts, whatever the length of their logs', async () => {
        const owner = `owner-${randomUUID()}`;
        const [short, long, live] = [newDraft({ owner }), newDraft({ owner }), newDraft({ owner })];
        const chunks = (draft: typeof long): TaskEvent[] => [
          draft.status('TASK_STATE_WORKING', 'first'),
          ...Array.from({ length: 1_500 }, (_, index) => draft.chunk(`${index} `)),
          draft.status('TASK_STATE_WORKING', 'second'),
        ];
        await store.writeBatch([
          short.created(short.chunk('a'), short.status('TASK_STATE_COMPLETED', 'done')),
          long.created(...chunks(long), long.status('TASK_STATE_COMPLETED', 'done')),
          live.created(...chunks(live)),
        ]);
        const query = { scope: { tenant: '', owner }, limit: 10 };
        const [full, told] = [await store.findTasks(query), await store.findTasks({ ...query, artifacts: false })];
        expect(full).toHaveLength(3);
        expect(told.map(({ task }) => task)).toEqual(full.map(({ task }) => ({ ...task, artifacts: undefined })));
        for (const { header, task } of full) expect(task).toEqual((await store.loadTask(header.taskId))?.task);
      });
    });

    describe('page', () => {
      const scope = (owner: string) => ({ tenant: '', owner });

      it('has what was asked for and says whether there is more; logs that are small need no admission', async () => {
        const owner = `owner-${randomUUID()}`;
        const drafts = Array.from({ length: 5 }, (_, index) => newDraft({ owner, at: new Date(1e12 + index) }));
        await store.writeBatch(drafts.map((draft) => draft.created()));
        const admission = { bytes: 1, admitBytes: () => Promise.reject(new Error('Not asked for')) };
        const first = await store.readPage({ scope: scope(owner), limit: 3 }, admission);
        expect([first.tasks.length, first.more]).toEqual([3, true]);
        const before = first.tasks.at(-1)!.header;
        const last = await store.readPage({ scope: scope(owner), before, limit: 3 }, admission);
        expect([last.tasks.length, last.more]).toEqual([2, false]);
      });

      it('ends where its logs get too large, and asks before it reads them', async () => {
        const owner = `owner-${randomUUID()}`;
        const drafts = Array.from({ length: 3 }, (_, index) => newDraft({ owner, at: new Date(1e12 + index) }));
        await store.writeBatch(drafts.map((draft) => draft.created(draft.chunk('a'.repeat(400_000)))));
        const admitted: number[] = [];
        const admit = async (bytes: number) => void admitted.push(bytes);
        const two = await store.readPage({ scope: scope(owner), limit: 3 }, { bytes: 1_000_000, admitBytes: admit });
        expect([two.tasks.length, two.more]).toEqual([2, true]);
        const one = await store.readPage({ scope: scope(owner), limit: 3 }, { bytes: 1, admitBytes: admit });
        expect([one.tasks.length, one.more]).toEqual([1, true]);
        const told = await store.readPage(
          { scope: scope(owner), artifacts: false, limit: 3 },
          { bytes: 1, admitBytes: admit },
        );
        expect([told.tasks.length, told.more]).toEqual([3, false]);
        expect(admitted.map((bytes) => Math.floor(bytes / 400_000))).toEqual([2, 1]);
        const refuse = () => Promise.reject(new Error('No room'));
        const refused = store.loadTask(drafts[0]!.taskId, scope(owner), { admitBytes: refuse });
        await expect(refused).rejects.toThrow('No room');
      });
    });

    describe('completedBefore', () => {
      it.each([-300, -20, 20, 300])(
        'goes by commits: the clock of the replica that completes Tasks is %d ms away',
        async (skew) => {
          const [contextId, owner] = [randomUUID(), `owner-${randomUUID()}`];
          const now = Date.now();
          const draftAt = (at: number) => newDraft({ contextId, owner, at: new Date(at) });
          const [open, first, second] = [draftAt(now), draftAt(now + skew), draftAt(now + 2 * skew)];
          const elsewhere = newDraft({ owner, at: new Date(now) });
          await store.writeBatch([open.created(), elsewhere.created(elsewhere.status('TASK_STATE_COMPLETED', 'done'))]);
          for (const draft of [first, second])
            await store.writeBatch([draft.created(draft.status('TASK_STATE_COMPLETED', 'done'))]);
          const own = draftAt(now);
          await store.writeBatch([own.created()]);
          await store.writeBatch([open.continued(open.token, 1, open.status('TASK_STATE_COMPLETED', 'too late'))]);
          const found = await store.completedBefore(own.taskId, 10);
          expect(found.map(({ taskId }) => taskId)).toEqual([second.taskId, first.taskId]);
          expect(await store.completedBefore(first.taskId, 10)).toEqual([]);
        },
      );
    });

    describe('load', () => {
      it('answers each of many who ask at once with its own', async () => {
        const drafts = Array.from({ length: 80 }, (_, index) => newDraft({ owner: index % 2 ? 'bob' : 'alice' }));
        await store.writeBatch(
          drafts.map((draft, index) => draft.created(draft.status('TASK_STATE_WORKING', `${index}`))),
        );
        const asked = drafts.flatMap(({ taskId }) => [
          store.loadTask(taskId, { tenant: '', owner: 'alice' }),
          store.loadTask(taskId, { tenant: '', owner: 'bob' }),
          store.loadTask(`${taskId}-none`, { tenant: '', owner: 'bob' }),
        ]);
        const found = (await Promise.all(asked)).map((stored) => stored?.task.id);
        const own = drafts.flatMap(({ taskId }, index) =>
          index % 2 ? [undefined, taskId, undefined] : [taskId, undefined, undefined],
        );
        expect(found).toEqual(own);
      });

      it('folds a log of thousands of chunks, all of them in order', async () => {
        const draft = newDraft();
        const chunks = Array.from({ length: 10_000 }, (_, index) => draft.chunk(String(index)));
        await store.writeBatch([draft.created(draft.status('TASK_STATE_WORKING'), ...chunks.slice(0, 4_000))]);
        const working = await store.loadTask(draft.taskId);
        expect(working?.task.artifacts?.[0]?.parts).toHaveLength(4_000);
        const end = draft.status('TASK_STATE_COMPLETED');
        await store.writeBatch([draft.continued(draft.token, 4_002, ...chunks.slice(4_000), end)]);
        const ended = await store.loadTask(draft.taskId);
        expect(ended?.task.artifacts?.[0]?.parts.map(({ text }) => Number(text))).toEqual(chunks.map((_, at) => at));
        expect(ended?.header).toMatchObject({ state: 'TASK_STATE_COMPLETED', lastSequence: 10_003 });
      });

      it('knows how large a log is', async () => {
        const draft = newDraft();
        const events = [draft.status('TASK_STATE_INPUT_REQUIRED', '?')];
        await store.writeBatch([draft.created(draft.chunk('a'.repeat(10_000)), ...events)]);
        const { size } = (await store.loadTask(draft.taskId))!.header;
        expect(size!.artifacts).toBeGreaterThan(10_000);
        expect(size!.log).toBeGreaterThan(size!.artifacts);
        await store.claimTask(draft.taskId, REPLICA, 'mine');
        await store.writeBatch([draft.continued('mine', 3, draft.status('TASK_STATE_COMPLETED', 'b'.repeat(5_000)))]);
        const after = (await store.loadTask(draft.taskId))!;
        expect(after.header.size!.log).toBeGreaterThan(size!.log + 5_000);
        expect(after.header.size!.artifacts).toBe(size!.artifacts);
        expect(after.bytes).toBe(after.header.size!.log);
      });
    });

    describe('log', () => {
      it('gives a short log with its header, and of a long one that alone', async () => {
        const [short, many, large] = [newDraft({ owner: 'alice' }), newDraft(), newDraft()];
        const chunks = Array.from({ length: 100 }, (_, index) => many.chunk(String(index)));
        await store.writeBatch([short.created(short.status('TASK_STATE_INPUT_REQUIRED', '?'))]);
        await store.writeBatch([many.created(...chunks), large.created(large.chunk('a'.repeat(200_000)))]);
        await store.claimTask(short.taskId, REPLICA, 'mine');
        const answer = userMessage('answer \u0000\u001e\u001f', { messageId: 'm2' });
        const answered = { ...statusUpdate(short, 'TASK_STATE_WORKING'), received: answer };
        await store.writeBatch([short.continued('mine', 2, answered, short.status('TASK_STATE_COMPLETED'))]);
        const log = await store.readLog(short.taskId, { tenant: '', owner: 'alice' });
        expect(log?.header).toMatchObject({ lastSequence: 4, state: 'TASK_STATE_COMPLETED' });
        expect(log?.events).toEqual(await store.readEvents(short.taskId, 0, 10));
        expect(log?.events?.[2]?.event).toMatchObject({ received: answer });
        expect(await store.readLog(short.taskId, { tenant: '', owner: 'bob' })).toBeUndefined();
        for (const draft of [many, large]) {
          const { header, events } = (await store.readLog(draft.taskId))!;
          expect([header.taskId, events]).toEqual([draft.taskId, undefined]);
        }
      });
    });

    describe('count', () => {
      it('is exact while Tasks are made and move from state to state, also where some entries are fenced', async () => {
        const owner = `owner-${randomUUID()}`;
        const scope = { tenant: '', owner };
        const [a, b, c, d] = Array.from({ length: 4 }, () => newDraft({ owner })) as [
          ReturnType<typeof newDraft>,
          ReturnType<typeof newDraft>,
          ReturnType<typeof newDraft>,
          ReturnType<typeof newDraft>,
        ];
        const counts = async (): Promise<number[]> => {
          const states = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'] as const;
          return Promise.all([
            store.countTasks({ scope }),
            store.countTasks({ scope, agent: 'workflows/w' }),
            ...states.map((state) => store.countTasks({ scope, state })),
          ]);
        };
        expect(await counts()).toEqual([0, 0, 0, 0, 0]);
        await store.writeBatch([a.created(), b.created(b.status('TASK_STATE_COMPLETED')), c.created()]);
        expect(await counts()).toEqual([3, 3, 2, 0, 1]);
        const outcomes = await store.writeBatch([
          a.continued('another token', 1, a.status('TASK_STATE_COMPLETED')),
          b.created(),
          c.continued(c.token, 1, c.status('TASK_STATE_WORKING')),
          d.created(d.status('TASK_STATE_WORKING')),
        ]);
        expect(outcomes).toEqual(['fenced', 'fenced', 'written', 'written']);
        expect(await counts()).toEqual([4, 4, 1, 2, 1]);
        await store.writeBatch([
          c.continued(c.token, 2, c.status('TASK_STATE_COMPLETED')),
          d.continued(d.token, 2, d.status('TASK_STATE_WORKING')),
        ]);
        expect(await counts()).toEqual([4, 4, 1, 1, 2]);
        expect(await store.countTasks({ scope: { tenant: 'x', owner } })).toBe(0);
      });
    });
  });
}
