import type { Database } from '#libs/postgres';
import { PostgresTaskStore } from '#libs/tasks';
import type { TestDatabase } from '../support/postgres.js';
import { openTaskDatabase } from './task-database.js';

const FLOOD = 2_000;
const LIMIT = 32;

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

beforeEach(() => server.query('TRUNCATE task CASCADE'));

it('the first look finds a caller’s overdue Task, however many of a guest have waited longer', async () => {
  await park('guest', FLOOD, '1 hour');
  await park('me', 1, '1 minute');
  await park('', 1, '1 minute');
  const found = await new PostgresTaskStore(database).findOverdue(0, LIMIT);
  expect(found).toHaveLength(LIMIT);
  expect(found).toEqual(expect.arrayContaining(['me-1', '-1', 'guest-1']));
});

it('looks find one overdue Task of each caller in turn, and leave out what failed', async () => {
  const store = new PostgresTaskStore(database);
  await park('guest', FLOOD, '1 hour');
  const callers = Array.from({ length: 100 }, (_, n) => `caller-${n}`);
  for (const caller of callers) await park(caller, 2, '1 minute');
  await park('later', 1, '-1 hour');
  const found = new Set<string>();
  for (let look = 0; look < 8; look += 1) {
    for (const taskId of await store.findOverdue(0, LIMIT, ['caller-7-1'])) found.add(taskId);
  }
  const firstOf = (caller: string): string => (caller === 'caller-7' ? 'caller-7-2' : `${caller}-1`);
  expect(callers.filter((caller) => !found.has(firstOf(caller)))).toEqual([]);
  expect([...found].filter((taskId) => taskId.startsWith('later'))).toEqual([]);
});

it('looks past callers whose Tasks are not due yet, a few at a time', async () => {
  const store = new PostgresTaskStore(database);
  await park('guest', FLOOD, '1 hour');
  for (let n = 0; n < 150; n += 1) await park(`idle-${n}`, 1, '-1 hour');
  await park('me', 1, '1 minute');
  const found: string[] = [];
  for (let look = 0; look < 4; look += 1) found.push(...(await store.findOverdue(0, LIMIT)));
  expect(found).toContain('me-1');
});

/** Parks Tasks of an owner that have been due for so long. */
async function park(owner: string, count: number, dueFor: string): Promise<void> {
  await server.query(
    `INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, created_at, updated_at, wake_at)
     SELECT $1 || '-' || n, 'c', '', $1, 'workflows/w', 'TASK_STATE_WORKING', 1, now(), now(),
            now() - $3::interval + n * interval '1 millisecond'
     FROM generate_series(1, $2::int) AS n`,
    [owner, count, dueFor],
  );
}
