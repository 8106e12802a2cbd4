import type { Database } from '#libs/postgres';
import { type Commit, PostgresCommitLog, PostgresTaskStore } from '#libs/tasks';
import type { TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { newDraft } from './task-draft.js';
import { openTaskDatabase } from './task-database.js';

const PAGE = 64;
const MEGABYTE = 1024 * 1024;

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

it('a page of the commit log ends before it has more than a megabyte, or has one commit', async () => {
  const [store, log] = [new PostgresTaskStore(database), new PostgresCommitLog(database)];
  const [draft, other] = [newDraft(), newDraft()];
  const write = async (...lengths: number[]): Promise<void> => {
    const { lastSequence = 0 } = (await store.readHeader(draft.taskId)) ?? {};
    await store.writeBatch([
      draft.continued(draft.token, lastSequence, ...lengths.map((length) => draft.chunk('x'.repeat(length)))),
    ]);
  };
  await store.writeBatch([draft.created(), other.created()]);
  await write(3 * MEGABYTE);
  await write(400_000);
  await write(1_000, 400_000, 1_000);
  await write(400_000);
  await write(10);

  const [position, pages] = [new Map<string, bigint>(), new Array<Commit[]>()];
  for (
    let page = await log.readCommits(position, PAGE);
    page.length > 0;
    page = await log.readCommits(position, PAGE)
  ) {
    for (const commit of page) position.set(commit.writer, commit.position);
    pages.push(page);
  }
  expect(pages.map((page) => page.map(({ events }) => events.length))).toEqual([[2], [1], [1, 3], [1, 1]]);
  const sequences = pages.flat().flatMap(({ events }) => events.map(({ taskId, sequence }) => [taskId, sequence]));
  expect(sequences).toEqual([
    [draft.taskId, 1],
    [other.taskId, 1],
    ...[2, 3, 4, 5, 6, 7, 8].map((sequence) => [draft.taskId, sequence]),
  ]);
  for (const { bytes, events } of pages.flat()) {
    const characters = events.reduce((sum, { json }) => sum + json.length, 0);
    expect(Math.abs(bytes - characters)).toBeLessThan(1_000);
  }
});

it('a writer that commits after a long rest, just as it is to be forgotten, is not forgotten', async () => {
  const log = new PostgresCommitLog(database);
  await server.query(`INSERT INTO task_writer (writer, position) VALUES ('rested', 1), ('gone', 1)`);
  const writer = database.createSession('writer');
  await writer.connect();
  try {
    await writer.query(`BEGIN; UPDATE task_writer SET position = 2 WHERE writer = 'rested'`);
    await writer.query(
      `INSERT INTO task_commit (writer, position, task_ids, afters, last_sequences, committed_at)
       VALUES ('rested', 2, '{}', '{}', '{}', now())`,
    );
    const forgotten = log.forgetCommits(new Date(1_000), new AbortController().signal);
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await server.query(waiting)).length > 0, { what: 'the writer to be looked at' });
    await writer.query('COMMIT');
    await forgotten;
  } finally {
    await writer.end();
  }
  const left = await server.query(`SELECT writer FROM task_writer WHERE writer IN ('rested', 'gone')`);
  expect(left).toEqual([{ writer: 'rested' }]);
});
