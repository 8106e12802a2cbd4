import { type Database, ReplicaLife } from '#libs/postgres';
import { type CommitPosition, PostgresCommitLog, PostgresTaskStore } from '#libs/tasks';
import type pg from 'pg';
import { EventGate } from '../support/event-gate.js';
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

/** What a store shows to this test: the session of its journal, and its sessions for claims. */
interface Inside {
  journal: { session: { open?: { client: Promise<pg.PoolClient> }; writer: string } };
  small: pg.Pool;
}

const insideOf = (store: PostgresTaskStore): Inside => store as unknown as Inside;

async function commitsOf(writer: string, after: CommitPosition): Promise<string[][]> {
  const commits = await new PostgresCommitLog(database).readCommits(after, 100);
  return commits.filter((it) => it.writer === writer).map(({ events }) => events.map(({ taskId }) => taskId));
}

it('a statement under way behind a broken connection commits before whatever the next session writes', async () => {
  const store = new PostgresTaskStore(database);
  const [first, late, next] = [newDraft(), newDraft(), newDraft()];
  await store.writeBatch([first.created()]);
  const { position } = await new PostgresCommitLog(database).readPosition();
  const gate = await EventGate.holding(server, 'held back');
  const lost = store.writeBatch([late.created(late.chunk('held back'))]).catch((error: unknown) => error);
  await gate.reached();
  const { connection } = (await insideOf(store).journal.session.open!.client) as unknown as {
    connection: { stream: { destroy(): void } };
  };
  connection.stream.destroy();
  expect(await lost).toBeInstanceOf(Error);
  let isWritten = false;
  const written = store.writeBatch([next.created()]).finally(() => (isWritten = true));
  await until(isWaitingForAnother, { what: 'the next session to wait for the statement under way' });
  expect(isWritten).toBe(false);
  await gate.end();
  expect(await written).toEqual(['written']);
  const commits = await commitsOf(insideOf(store).journal.session.writer, position);
  expect(commits).toEqual([[late.taskId, late.taskId], [next.taskId]]);
});

it('a statement that comes to the server after the next session has begun is undone', async () => {
  const store = new PostgresTaskStore(database);
  await store.writeBatch([newDraft().created()]);
  const { writer } = insideOf(store).journal.session;
  const [{ position }] = (await server.query(
    'SELECT max(position)::text AS position FROM task_commit WHERE writer = $1',
    [writer],
  )) as [{ position: string }];
  const gate = await EventGate.holding(server, 'never');
  const draft = newDraft();
  const lost = store.writeBatch([draft.created(draft.chunk('never'))]).catch((error: unknown) => error);
  await gate.reached();
  await server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'advisory'
    AND datname = current_database()`);
  await lost;
  await gate.end();
  await store.writeBatch([newDraft().created()]);
  const again = server.query(
    `INSERT INTO task_commit (writer, position, task_ids, afters, last_sequences, committed_at)
     VALUES ($1, $2::bigint + 1, '{}', '{}', '{}', now())`,
    [writer, position],
  );
  await expect(again).rejects.toMatchObject({ code: '23505' });
});

it('a replica of the version before that joins reads the newest position of every writer, then and after every commit', async () => {
  const [store, log] = [new PostgresTaskStore(database), new PostgresCommitLog(database)];
  for (let n = 0; n < 3; n += 1) await store.writeBatch([newDraft().created()]);
  const before = await JournalBefore.connect(server.url);
  try {
    expect(await before.positions()).not.toEqual((await log.readPosition()).position);
    await before.join('of before');
    expect(await before.positions()).toEqual((await log.readPosition()).position);
    await store.writeBatch([newDraft().created()]);
    await before.create(newDraft());
    expect(await before.positions()).toEqual((await log.readPosition()).position);
  } finally {
    await server.query(`DELETE FROM replica WHERE id = 'of before'`);
    await before.end();
  }
});

it('a replica of this version is not taken for one of the version before', async () => {
  const life = new ReplicaLife(database);
  await life.beginLife();
  try {
    const before = await server.query('SELECT id FROM replica WHERE generation IS NULL');
    expect(before).toEqual([]);
  } finally {
    await life.endLife();
  }
});

it('the proof of a claim waits for no other look at claims', async () => {
  const store = new PostgresTaskStore(database);
  const draft = newDraft();
  await store.writeBatch([draft.created()]);
  const busy = await insideOf(store).small.connect();
  try {
    expect(await store.isClaimHeld({ taskId: draft.taskId, token: draft.token })).toBe(true);
  } finally {
    busy.release();
  }
});

async function isWaitingForAnother(): Promise<boolean> {
  const waiting = await server.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event IN ('transactionid', 'spectoken')`,
  );
  return waiting.length > 0;
}
