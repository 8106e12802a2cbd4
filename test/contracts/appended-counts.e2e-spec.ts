import { randomUUID } from 'node:crypto';
import type { Database } from '#libs/postgres';
import { PostgresTaskStore, TaskCounts } from '#libs/tasks';
import { endSessions } from '../support/database-faults.js';
import type { TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { JournalBefore } from './journal-before.js';
import { newDraft } from './task-draft.js';
import { openTaskDatabase } from './task-database.js';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

/** Reads the count of an owner's Tasks and their true number in one snapshot. */
async function compare(owner: string): Promise<{ counted: number; there: number }> {
  const [row] = await server.query(
    `SELECT (SELECT coalesce(sum(tasks), 0)::int FROM task_count WHERE owner = $1) AS counted,
            (SELECT count(*)::int FROM task WHERE owner = $1) AS there`,
    [owner],
  );
  return row as { counted: number; there: number };
}

async function rest(owner: string): Promise<number> {
  return (await server.query('SELECT FROM task_count_rest WHERE owner = $1', [owner])).length;
}

it('counts are exact in every snapshot while journals append, two processes fold, and Tasks are deleted', async () => {
  const owner = randomUUID();
  const going = new AbortController();
  const folding = [1, 2].map(async () => {
    const counts = new TaskCounts(database);
    while (!going.signal.aborted) await counts.foldCounts(going.signal);
  });
  const writing = [1, 2, 3].map(async () => {
    const store = new PostgresTaskStore(database);
    for (let round = 0; round < 20; round += 1) {
      const drafts = Array.from({ length: 4 }, () => newDraft({ owner }));
      await store.writeBatch(drafts.map((draft) => draft.created()));
      await store.writeBatch(
        drafts.map((draft) => draft.continued(draft.token, 1, draft.status('TASK_STATE_COMPLETED'))),
      );
      await server.query('DELETE FROM task WHERE task_id = $1', [drafts[0]!.taskId]);
    }
  });
  const written = Promise.all(writing).finally(() => going.abort());
  while (!going.signal.aborted) {
    const { counted, there } = await compare(owner);
    expect(counted).toBe(there);
  }
  await Promise.all([written, ...folding]);
  expect(await compare(owner)).toEqual({ counted: 180, there: 180 });
});

it('no commit updates a row that another commit updates', async () => {
  const owner = randomUUID();
  const store = new PostgresTaskStore(database);
  await store.writeBatch([newDraft({ owner }).created()]);
  const places = (): Promise<unknown[]> =>
    server.query(
      `SELECT 'writer' AS of, writer, ctid::text, xmin::text FROM task_writer
      UNION ALL SELECT 'folded', writer, ctid::text, xmin::text FROM task_count_folded WHERE owner = $1 ORDER BY 1, 2`,
      [owner],
    );
  const before = await places();
  for (let n = 0; n < 30; n += 1) await store.writeBatch([newDraft({ owner }).created()]);
  expect(await places()).toEqual(before);
});

it('what a process appended that died before it was folded is counted, and folded by another', async () => {
  const owner = randomUUID();
  const store = new PostgresTaskStore(database);
  const drafts = Array.from({ length: 5 }, () => newDraft({ owner }));
  await store.writeBatch(drafts.map((draft) => draft.created()));
  expect(await endSessions(server, 'journal')).toBeGreaterThan(0);
  expect([await rest(owner), await compare(owner)]).toEqual([1, { counted: 5, there: 5 }]);
  const counts = new TaskCounts(database);
  await counts.foldCounts(new AbortController().signal);
  expect([await rest(owner), await compare(owner)]).toEqual([0, { counted: 5, there: 5 }]);
});

it('a process folds by itself what it has appended', async () => {
  const owner = randomUUID();
  await new PostgresTaskStore(database).writeBatch([newDraft({ owner }).created()]);
  await until(async () => (await rest(owner)) === 0, { what: 'the counts to be folded' });
  expect(await compare(owner)).toEqual({ counted: 1, there: 1 });
});

it('a writer whose differences are not folded is not forgotten, however long it rests', async () => {
  const owner = randomUUID();
  await new PostgresTaskStore(database).writeBatch([newDraft({ owner }).created()]);
  await server.query('DELETE FROM task_writer');
  expect(await compare(owner)).toEqual({ counted: 1, there: 1 });
});

it('a journal of the version before beside this one keeps counts exact for both, folded or not', async () => {
  const owner = randomUUID();
  const [before, store] = [await JournalBefore.connect(server.url), new PostgresTaskStore(database)];
  try {
    for (let n = 0; n < 3; n += 1) {
      await before.create(newDraft({ owner }));
      await store.writeBatch([newDraft({ owner }).created()]);
    }
    const filter = { scope: { tenant: '', owner } };
    expect([await before.count(owner), await store.countTasks(filter)]).toEqual([6, 6]);
    await new TaskCounts(database).foldCounts(new AbortController().signal);
    expect([await before.count(owner), await store.countTasks(filter), await rest(owner)]).toEqual([6, 6, 0]);
  } finally {
    await before.end();
  }
});
