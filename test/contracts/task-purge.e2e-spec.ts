import type { Database } from '#libs/postgres';
import { FoldMemory, KeptFolds, TaskPurge, TaskRetention } from '#libs/tasks';
import type { TestDatabase } from '../support/postgres.js';
import { before, until } from '../support/until.js';
import { openTaskDatabase } from './task-database.js';

const CHILDREN = 12_000;

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

it('a purge deletes a bounded number of Tasks at once, however many a run called for, and all in the end', async () => {
  await server.query('CREATE TABLE purged (tasks int)');
  await server.query(
    `CREATE FUNCTION note_purged() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN INSERT INTO purged SELECT count(*) FROM gone; RETURN NULL; END $$`,
  );
  await server.query(
    `CREATE TRIGGER purged AFTER DELETE ON task REFERENCING OLD TABLE AS gone
     FOR EACH STATEMENT EXECUTE FUNCTION note_purged()`,
  );
  await endedRun(CHILDREN);
  const memory = new FoldMemory();
  const folds = new KeptFolds<string>(memory);
  for (const taskId of ['0000000000', 'another'])
    folds.keepFold({ taskId, tenant: '', owner: '' }, 1, { state: taskId, place: { sequence: 1, digest: '' } });
  const purge = new TaskPurge(database, new TaskRetention(), memory);
  expect(await purge.purgeTasks(new Date(), AbortSignal.timeout(180_000))).toBe(CHILDREN + 1);
  // A Task that ended in another replica may still be kept here as it waited.
  expect([folds.get('0000000000'), folds.size]).toEqual([undefined, 1]);
  expect(await server.query('SELECT count(*)::int AS tasks FROM task')).toEqual([{ tasks: 0 }]);
  expect(await server.query('SELECT max(tasks) AS most FROM purged')).toEqual([{ most: 10_000 }]);
});

it('a purge whose process stands still in its transaction keeps the purge of another one waiting for seconds only', async () => {
  await endedRun(1);
  const frozen = whoseCommitsStandStill();
  void new TaskPurge(frozen.database, new TaskRetention(), new FoldMemory())
    .purgeTasks(new Date(), AbortSignal.timeout(180_000))
    .catch(() => 0);
  await until(() => frozen.standsStill(), { what: 'the first purge to stand still' });
  const purge = new TaskPurge(database, new TaskRetention(), new FoldMemory()).purgeTasks(
    new Date(),
    AbortSignal.timeout(180_000),
  );
  expect(await before(purge, { what: 'the second purge' })).toBe(2);
  expect(await server.query('SELECT FROM task')).toEqual([]);
});

/** A run that ended a day ago, and so many Tasks that it called for. */
async function endedRun(children: number): Promise<void> {
  await server.query(
    `INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, parent_task_id, created_at, updated_at)
     SELECT '0' || lpad(n::text, 9, '0'), 'c', '', '', 'a', 'TASK_STATE_COMPLETED', 1,
            CASE WHEN n > 0 THEN '0' || lpad('0', 9, '0') END, now() - interval '1 day', now() - interval '1 day'
     FROM generate_series(0, $1::int) AS n`,
    [children],
  );
}

/** The database as a purge has it whose process stands still after it has deleted Tasks, and before it commits that. */
function whoseCommitsStandStill(): { database: Database; standsStill(): boolean } {
  let standsStill = false;
  const tunedPool = (...options: Parameters<Database['tunedPool']>): ReturnType<Database['tunedPool']> => {
    const pool = database.tunedPool(...options);
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...values: unknown[]) => unknown;
      client.query = ((text: unknown, ...values: unknown[]) => {
        if (text !== 'COMMIT' || standsStill) return query(text, ...values);
        standsStill = true;
        return new Promise((_, reject) => client.once('end', () => reject(new Error('The session has ended'))));
      }) as typeof client.query;
    });
    return pool;
  };
  return { database: { tunedPool } as unknown as Database, standsStill: () => standsStill };
}
