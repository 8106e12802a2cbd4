import type { Database } from '#libs/postgres';
import { FailureStreaks } from '#libs/workflows';
import type { TestDatabase } from '../support/postgres.js';
import { openTaskDatabase } from './task-database.js';

const SCOPE = { tenant: 't', owner: 'o' };
const BEGAN = new Date('2026-01-01T00:00:00Z');

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

/** Adds ended runs of a workflow, one a second, of which a number completed before all others failed. */
async function addRuns(workflow: string, number: number, completed: number): Promise<void> {
  await server.query(
    `INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, created_at, updated_at)
     SELECT $1 || '-' || n, 'c', 't', 'o', 'workflows/' || $1,
            CASE WHEN n <= $3 THEN 'TASK_STATE_COMPLETED' ELSE 'TASK_STATE_FAILED' END, 1,
            $4::timestamptz + n * interval '1 second', $4::timestamptz + n * interval '1 second'
     FROM generate_series(1, $2::int) AS n`,
    [workflow, number, completed, BEGAN],
  );
}

const at = (second: number): Date => new Date(BEGAN.getTime() + second * 1000);

it('finds the first failure after the last completed run, and ends its search after 1,000 runs', async () => {
  const streaks = new FailureStreaks(database);
  await addRuns('short', 30, 20);
  expect(await streaks.findStreak(SCOPE, 'short', BEGAN)).toEqual({
    failures: 10,
    first: { runId: 'short-21', endedAt: at(21) },
    completed: { runId: 'short-20', endedAt: at(20) },
    more: false,
  });
  expect(await streaks.findStreak(SCOPE, 'short', at(25))).toEqual({
    failures: 6,
    first: { runId: 'short-25', endedAt: at(25) },
    more: false,
  });
  expect(await streaks.findStreak({ ...SCOPE, owner: 'another' }, 'short', BEGAN)).toEqual({
    failures: 0,
    more: false,
  });
  await addRuns('long', 3_000, 20);
  expect(await streaks.findStreak(SCOPE, 'long', BEGAN)).toEqual({
    failures: 1_000,
    first: { runId: 'long-2001', endedAt: at(2_001) },
    more: true,
  });
});

it('reads no more than those rows of the index, however many runs there are', async () => {
  await addRuns('many', 20_000, 0);
  await addRuns('others', 30_000, 0);
  await server.query('ANALYZE task');
  let plan: unknown;
  const query = (asked: { text: string; values: unknown[] }): Promise<unknown> =>
    database.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${asked.text}`, asked.values).then(({ rows }) => {
      plan = rows[0]['QUERY PLAN'][0].Plan;
      return { rows: [] };
    });
  const explained = { pool: { query } } as unknown as Database;
  await new FailureStreaks(explained).findStreak(SCOPE, 'many', BEGAN);
  const scan = listScans(plan).filter((node) => node['Relation Name'] === 'task');
  expect(scan).toMatchObject([{ 'Index Name': 'task_agent_state', 'Actual Rows': 1_000 }]);
});

type PlanNode = Record<string, unknown> & { Plans?: PlanNode[] };

function listScans(node: unknown): PlanNode[] {
  const { Plans = [], ...own } = node as PlanNode;
  return [own, ...Plans.flatMap(listScans)];
}
