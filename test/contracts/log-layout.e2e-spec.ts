import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { migrateJobQueue } from '#libs/job-queue';
import { Database, POSTGRES_MIGRATIONS } from '#libs/postgres';
import { statusUpdate, userMessage } from '#libs/protocol';
import { PostgresTaskStore, TASK_MIGRATIONS, type TaskEvent } from '#libs/tasks';
import type { QueryRunner } from 'typeorm';
import { ANY_CHARACTER } from '../support/any-character.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { range } from '../support/sse.js';
import { until } from '../support/until.js';
import { newDraft } from './task-draft.js';
import { asRows, OF_BEFORE, VersionBefore } from './version-before.js';

/** The migrations that let events share rows. */
const SHARED_ROWS = ['FindEventsByRow1700000000520', 'ReadLogPhrases1700000000143', 'ShareLogRows1700000000142'];

let server: TestDatabase;
let database: Database;
let store: PostgresTaskStore;
/** A session of the version before, which was there first. */
let before: VersionBefore;

beforeAll(async () => {
  Logger.overrideLogger(false);
  server = await freshDatabase({ empty: true });
  const older = TASK_MIGRATIONS.filter(({ name }) => !SHARED_ROWS.includes(name));
  const first = await Database.connectAndMigrate({ url: server.url, migrations: [...POSTGRES_MIGRATIONS, ...older] });
  await migrateJobQueue(first);
  await first.close();
  before = await VersionBefore.connect(server.url);
});

afterAll(async () => {
  await before.end();
  await database.close();
  await server.drop();
});

type Draft = ReturnType<typeof newDraft>;

const HARD = 'NUL \u0000, surrogate \ud800, controls \u0001\u0002\u001e\u001f, quotes " \\ and 🙂';

function answered(draft: Draft): TaskEvent {
  return { ...statusUpdate(draft, 'TASK_STATE_WORKING', HARD), received: userMessage(HARD, { messageId: 'm2' }) };
}

it('a session of the version before reads and writes on while the schema changes', async () => {
  const old = newDraft();
  await before.query(
    `INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, created_at, updated_at)
     VALUES ($1, $2, '', '', 'workflows/w', 'TASK_STATE_WORKING', 1, now(), now())`,
    [old.taskId, old.contextId],
  );
  const [begun] = old.created().events;
  await before.query(`INSERT INTO task_event (task_id, sequence, payload, recorded_at) VALUES ($1, 1, $2, now())`, [
    old.taskId,
    begun?.json,
  ]);
  for (const after of [1, 2, 3, 4, 5, 6])
    expect(await before.write(old, after, old.status('TASK_STATE_WORKING', HARD))).toBe(true);
  const read = await before.read(old);
  database = await Database.connectAndMigrate({
    url: server.url,
    migrations: [...POSTGRES_MIGRATIONS, ...TASK_MIGRATIONS],
  });
  store = new PostgresTaskStore(database);
  expect(await before.read(old)).toEqual(read);
  expect(await before.write(old, 7, answered(old))).toBe(true);
  const events = await store.readEvents(old.taskId, 0, 100);
  expect(events).toHaveLength(8);
  expect(events.at(-1)?.event).toMatchObject({ received: { messageId: 'm2' } });
  expect(await before.read(old)).toEqual(asRows(events));
});

it('both versions go on with one log and read the same of it, from wherever they are', async () => {
  const draft = newDraft();
  const { taskId, token } = draft;
  await store.writeBatch([draft.created(draft.status('TASK_STATE_WORKING', HARD), draft.chunk(HARD))]);
  expect(await before.write(draft, 3, draft.chunk('before'))).toBe(true);
  const asks = draft.status('TASK_STATE_INPUT_REQUIRED', HARD);
  const more = [asks, answered(draft), draft.chunk('x'.repeat(9_000)), draft.chunk(HARD), draft.chunk('b')];
  await store.writeBatch([draft.continued(token, 4, ...more)]);
  expect(await before.write(draft, 9, asks)).toBe(true);
  expect(await before.write(draft, 10, answered(draft))).toBe(true);
  await store.writeBatch([draft.continued(token, 11, draft.status('TASK_STATE_COMPLETED', HARD))]);
  const events = await store.readEvents(taskId, 0, 100);
  expect(events.map(({ sequence }) => sequence)).toEqual(range(1, 12));
  for (let after = 0; after <= 12; after += 1) {
    for (const limit of [1, 2, 5, 100]) {
      expect(await before.read(draft, after, limit)).toEqual(asRows(events.slice(after, after + limit)));
    }
  }
  const stored = await store.loadTask(taskId);
  const { artifacts, ...told } = stored!.task;
  expect(artifacts?.[0]?.parts.map(({ text }) => text?.length)).toEqual([HARD.length, 6, 9_000, HARD.length, 1]);
  const [listed] = await store.findTasks({
    scope: { tenant: '', owner: '' },
    artifacts: false,
    contextId: draft.contextId,
    limit: 1,
  });
  expect(listed?.task).toEqual(told);
  const [size] = await server.query<{ log: number; artifacts: number }>(
    `SELECT sum(octet_length(payload::text) + coalesce(octet_length(received::text), 0))::int AS log,
            (sum(octet_length(payload::text)) FILTER (WHERE artifact))::int AS artifacts
     FROM task_event WHERE task_id = $1`,
    [taskId],
  );
  expect(stored?.header.size).toEqual(size);
});

it('the version before finds the events of its commits by the index, those that share a row too', async () => {
  const [one, two] = [newDraft(), newDraft()];
  await store.writeBatch([one.created(one.chunk('a'), one.chunk('b')), two.created(two.chunk('c'))]);
  await store.writeBatch([one.continued(one.token, 3, one.chunk('d'), one.chunk('e'))]);
  const moved = [
    [one.taskId, two.taskId],
    [3, 1],
    [5, 2],
  ];
  await before.query('BEGIN; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off');
  await before.query('SET LOCAL enable_seqscan = off');
  const { rows: plan } = await before.query(`EXPLAIN ${OF_BEFORE.commits}`, moved);
  const { rows } = await before.query(`${OF_BEFORE.commits} ORDER BY moved.after DESC, sequence`, moved);
  await before.query('ROLLBACK');
  const steps = plan.map((step) => step['QUERY PLAN']).join('\n');
  expect(steps).toMatch(/task_log_pkey[^\n]*\n\s+Index Cond: \(task_id = \(?moved\.task_id/);
  const events = [await store.readEvents(one.taskId, 3, 10), await store.readEvents(two.taskId, 1, 10)];
  expect(rows).toEqual(events.flatMap(asRows));
});

it('the purge of the version before deletes whole logs, and no others', async () => {
  const [gone, kept] = [newDraft(), newDraft()];
  await store.writeBatch([gone.created(gone.status('TASK_STATE_WORKING')), kept.created()]);
  await store.writeBatch([gone.continued(gone.token, 2, gone.chunk('a'), gone.status('TASK_STATE_COMPLETED'))]);
  await before.purge(gone.taskId);
  expect(await server.query('SELECT FROM task_log WHERE task_id = $1', [gone.taskId])).toEqual([]);
  expect(await store.readEvents(kept.taskId, 0, 10)).toHaveLength(1);
});

it('whatever is asked of a log comes whole, in whatever pieces it was written and is read', async () => {
  const text = fc.oneof(
    fc.string({ unit: ANY_CHARACTER, maxLength: 60 }),
    fc.constantFrom('y'.repeat(2_900), 'z'.repeat(5_000)),
  );
  const batches = fc.array(fc.array(text, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 6 });
  const cuts = fc.array(fc.tuple(fc.nat(150), fc.integer({ min: 1, max: 60 })), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(batches, cuts, async (all, asked) => {
      const draft = newDraft();
      const written = [draft.created()];
      await store.writeBatch(written);
      let after = 1;
      for (const texts of all) {
        const events = texts.map((it, index) => (index % 3 ? draft.chunk(it) : draft.status('TASK_STATE_WORKING', it)));
        const entry = draft.continued(draft.token, after, ...events);
        await store.writeBatch([entry]);
        written.push(entry);
        after += events.length;
      }
      const log = written.flatMap(({ events }) => events).map(({ sequence, json }) => [sequence, json]);
      for (const [from, limit] of asked) {
        const events = await store.readEvents(draft.taskId, from, limit);
        expect(events.map(({ sequence, json }) => [sequence, json])).toEqual(log.slice(from, from + limit));
      }
      const texts = all.flatMap((it) => it.flatMap((said, index) => (index % 3 ? [said] : [])));
      const parts = (await store.loadTask(draft.taskId))?.task.artifacts?.[0]?.parts ?? [];
      expect(parts.map(({ text: said }) => said)).toEqual(texts);
      const owned = { tenant: '', owner: '' };
      const [listed] = await store.findTasks({ scope: owned, contextId: draft.contextId, artifacts: false, limit: 1 });
      expect([listed?.task.artifacts, listed?.header.lastSequence]).toEqual([undefined, after]);
    }),
    { numRuns: 25 },
  );
});

it.each([
  ['a short log is read by itself then', 30],
  ['a long log page by page', 2_000],
])('a list without Artifacts reads few of those that share rows with others: %s', async (_of, more) => {
  const owner = randomUUID();
  const draft = newDraft({ owner });
  const told = draft.status('TASK_STATE_WORKING', 'told');
  await store.writeBatch([draft.created()]);
  await store.writeBatch([draft.continued(draft.token, 1, told, draft.chunk('x'.repeat(2_000)))]);
  await server.query(
    `INSERT INTO task_log (task_id, sequence, events, artifact, recorded_at)
     SELECT task_id, 3 + 2 * n, events, artifact, recorded_at FROM task_log, generate_series(1, $2::int) AS n
     WHERE task_id = $1 AND sequence = 3`,
    [draft.taskId, more],
  );
  await server.query(
    `UPDATE task SET last_sequence = 3 + 2 * $2::int, log_bytes = 2500 * $2::int, artifact_bytes = 2250 * $2::int
     WHERE task_id = $1`,
    [draft.taskId, more],
  );
  // A page is read in a session for lists, and what it leaves out through the pool.
  const paged = jest.spyOn(database.reads, 'queryInTurn');
  const queries = jest.spyOn(database.pool, 'query');
  const listed = await store.findTasks({ scope: { tenant: '', owner }, artifacts: false, limit: 1 });
  const answers = await Promise.all(
    [...paged.mock.results, ...queries.mock.results].map(
      (it) => it.value as unknown as Promise<{ rows: { text?: string; events?: string }[] }>,
    ),
  );
  queries.mockRestore();
  paged.mockRestore();
  const read = answers.map(({ rows }) => rows.reduce((sum, it) => sum + (it.text ?? it.events ?? '').length, 0));
  expect(read.length).toBeGreaterThan(1);
  expect(read[0]).toBeLessThanOrEqual(32 * 1024);
  expect(Math.max(...read)).toBeLessThanOrEqual(1_000 * 3_000);
  expect(listed.map(({ task }) => [task.artifacts, task.history?.length])).toEqual([[undefined, 2 + more]]);
});

it('the schema of before comes back with all that was written since, also while it does', async () => {
  const [draft, going] = [newDraft(), newDraft()];
  const ended = [draft.status('TASK_STATE_WORKING', HARD), draft.status('TASK_STATE_COMPLETED')];
  await store.writeBatch([draft.created(...ended), going.created(going.chunk('a'))]);
  const events = await store.readEvents(draft.taskId, 0, 10);
  let late: Promise<unknown> | undefined;
  const runner = {
    query: async (sql: string): Promise<void> => {
      await before.query(sql);
      if (!sql.includes('TEMPORARY TABLE')) return;
      late = store.writeBatch([going.continued(going.token, 2, going.chunk('b'))]);
      await Promise.race([late, until(isWaitingForLock, { what: 'the batch to be written or to wait' })]);
    },
  };
  const migrations = SHARED_ROWS.map((it) => TASK_MIGRATIONS.find(({ name }) => name === it)!);
  await before.query('BEGIN');
  for (const Migration of migrations) await new Migration().down(runner as unknown as QueryRunner);
  expect(await before.read(draft)).toEqual(asRows(events));
  const { rows } = await before.query('SELECT last_sequence FROM task WHERE task_id = $1', [going.taskId]);
  expect(rows).toEqual([{ last_sequence: (await before.read(going)).length }]);
  await before.query('ROLLBACK');
  expect(await late).toEqual(['written']);
});

async function isWaitingForLock(): Promise<boolean> {
  const waiting = await server.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return waiting.length > 0;
}
