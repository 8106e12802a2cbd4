import type { Database } from '#libs/postgres';
import { RunActivityReader, RunWaits, WORKFLOW_MIGRATIONS } from '#libs/workflows';
import type { TestDatabase } from '../support/postgres.js';
import { openTaskDatabase } from './task-database.js';

const SCOPE = { tenant: 't', owner: 'o' };
const BEGAN = new Date('2026-01-01T00:00:00Z');
const RANGE = { since: BEGAN, until: new Date('2026-02-01T00:00:00Z') };

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase(WORKFLOW_MIGRATIONS));
  await addRuns('small', 40);
  await addRuns('large', 21_000);
  await addRuns('large/nodes/a', 30_000);
  await addRuns('large', 60_000, 'another');
  await server.query('ANALYZE task');
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

/** Adds ended Tasks of an agent, one a second, each of which took 10 seconds; every fourth one failed. */
async function addRuns(agent: string, number: number, owner = SCOPE.owner): Promise<void> {
  await server.query(
    `INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, created_at, updated_at)
     SELECT CASE WHEN $4 = 'o' THEN '' ELSE $4 || '-' END || $1 || '-' || n, 'c', 't', $4, 'workflows/' || $1,
            CASE WHEN n % 4 = 0 THEN 'TASK_STATE_FAILED' ELSE 'TASK_STATE_COMPLETED' END, 1,
            $3::timestamptz + (n - 10) * interval '1 second', $3::timestamptz + n * interval '1 second'
     FROM generate_series(1, $2::int) AS n`,
    [agent, number, BEGAN, owner],
  );
}

it('counts runs by workflow and state, and stops at the limit of a workflow', async () => {
  const { groups, failed, more } = await new RunActivityReader(database).countRuns(SCOPE, RANGE, 3);
  const found = Object.fromEntries(groups.map(({ agent, state, runs }) => [`${agent} ${state}`, runs]));
  expect(found).toEqual({
    'workflows/small TASK_STATE_COMPLETED': 30,
    'workflows/small TASK_STATE_FAILED': 10,
    'workflows/large TASK_STATE_COMPLETED': 15_000,
    'workflows/large TASK_STATE_FAILED': 5_000,
  });
  expect(groups.map(({ seconds }) => seconds)).toEqual(Array(4).fill([10, 10]));
  expect(failed).toEqual(
    [21_000, 20_996, 20_992].map((n) => ({
      runId: `large-${n}`,
      agent: 'workflows/large',
      endedAt: BEGAN.getTime() + n * 1000,
    })),
  );
  expect(more).toBe(true);
});

it('lists the newest failed runs of a range, and none of another caller', async () => {
  const reader = new RunActivityReader(database);
  const until = new Date(BEGAN.getTime() + 40_001);
  const ids = (runs: { runId: string }[]): string[] => runs.map(({ runId }) => runId);
  expect(ids(await reader.listFailed(SCOPE, { until }, 3))).toEqual(['small-40', 'large-40', 'small-36']);
  const since = new Date(BEGAN.getTime() + 40_000);
  expect(ids(await reader.listFailed(SCOPE, { since, until }, 3))).toEqual(['small-40', 'large-40']);
  expect(ids(await reader.listFailed(SCOPE, {}, 2))).toEqual(['large-21000', 'large-20996']);
  expect(await reader.listFailed({ ...SCOPE, owner: 'nobody' }, {}, 3)).toEqual([]);
});

it('counts all runs of a range with fewer, and none of another caller', async () => {
  const reader = new RunActivityReader(database);
  const range = { since: BEGAN, until: new Date(BEGAN.getTime() + 21_000) };
  const few = await reader.countRuns(SCOPE, range, 0);
  expect(few.groups.reduce((sum, { runs }) => sum + runs, 0)).toBe(40);
  expect([few.failed, few.more]).toEqual([[], false]);
  expect(await reader.countRuns({ ...SCOPE, owner: 'p' }, RANGE, 9)).toEqual({ groups: [], failed: [], more: false });
});

it('reads no more rows than the limits, by index', async () => {
  const reads = database.reads;
  let plan: unknown;
  const queryInIndexOrder: typeof reads.queryInIndexOrder = async (scope, { text, values = [] }) => {
    const { rows } = await reads.queryInIndexOrder(scope, { text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values });
    plan = rows[0]?.['QUERY PLAN'][0].Plan;
    return { rows: [] } as never;
  };
  const reader = new RunActivityReader({ reads: { queryInIndexOrder } } as unknown as Database);
  await reader.countRuns(SCOPE, RANGE, 3);
  const scans = listNodes(plan).filter((node) => node['Relation Name'] === 'task');
  expect(scans).toMatchObject([{ 'Index Name': 'task_agent_state' }]);
  const [{ 'Actual Rows': rows, 'Actual Loops': loops } = {}] = scans;
  // The rows of a loop are their average.
  expect(Number(rows) * Number(loops)).toBeLessThanOrEqual(20_041);
  await reader.readWaiting(SCOPE);
  const waiting = listNodes(plan).filter((node) => node['Relation Name'] === 'task');
  expect(waiting.map((node) => node['Node Type'])).not.toContain('Seq Scan');
  expect(waiting.map((node) => node['Index Name'])).toContain('task_run_state');
});

it('reads waiting work by age, with the oldest of each kind', async () => {
  const hour = 3_600_000;
  const ago = (hours: number): Date => new Date(Date.now() - hours * hour);
  const add = (id: string, agent: string, state: string, since: Date, wakeAt?: Date): Promise<unknown> =>
    server.query(
      `INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, created_at, updated_at, wake_at)
       VALUES ($1, 'c', 't', 'w', $2, $3, 1, $4, $4, $5)`,
      [id, agent, state, since, wakeAt ?? null],
    );
  const ask = (id: string, since: Date): Promise<unknown> =>
    server.query(
      `INSERT INTO task_question (task_id, key, tenant, owner, agent, since, body)
       VALUES ($1, 'q', 't', 'w', 'workflows/w', $2, '{"node":"q","text":"Publish?"}')`,
      [id, since],
    );
  const [asks, works] = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_WORKING'];
  for (const [id, hours, state] of [
    ['q1', 50, asks],
    ['q2', 2, asks],
    ['q3', 0, asks],
    ['q4', 99, works],
  ] as const) {
    await add(id, 'workflows/w', state, ago(hours));
    await ask(id, ago(hours));
  }
  await add('p1', 'workflows/w', works, ago(3), ago(-1));
  await add('p2', 'workflows/w/nodes/n', works, ago(9), ago(-1));
  await add('s1', 'workflows/w', 'TASK_STATE_SUBMITTED', ago(30));
  // Runs that have ended since do not hide a run that still waits for its begin.
  for (let n = 0; n < 501; n += 1) await add(`e${n}`, 'workflows/w', 'TASK_STATE_COMPLETED', ago(0));
  const rows = await new RunActivityReader(database).readWaiting({ tenant: 't', owner: 'w' });
  expect(Object.fromEntries(rows.map(({ kind, ...row }) => [kind, row]))).toMatchObject({
    questions: { total: 3, under_hour: 1, under_day: 1, longer: 1, more: false, run_id: 'q1' },
    parked: { total: 1, under_hour: 0, under_day: 1, longer: 0, run_id: 'p1', until: expect.any(Date), question: null },
    queued: { total: 1, under_hour: 0, under_day: 0, longer: 1, run_id: 's1', agent: 'workflows/w' },
  });
  expect(rows.find(({ kind }) => kind === 'questions')?.question).toEqual({ node: 'q', text: 'Publish?' });
  const others = await new RunActivityReader(database).readWaiting({ tenant: 't', owner: 'x' });
  expect(others.map(({ total, run_id }) => [total, run_id])).toEqual(Array(3).fill([0, null]));
});

it('lists a run whose question PostgreSQL cannot read', async () => {
  const runs = ['\\u0000', '\\ud83d', '\\uDE00', '\ud83d\ude00'].map((text, n) => ({ runId: `odd${n}`, text }));
  for (const { runId, text } of runs) {
    await server.query(
      `INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, created_at, updated_at)
       VALUES ($1, 'c', 't', 'odd', 'workflows/w', 'TASK_STATE_INPUT_REQUIRED', 1, now(), now())`,
      [runId],
    );
    await server.query(
      `INSERT INTO task_question (task_id, key, tenant, owner, agent, since, body)
       VALUES ($1, 'q', 't', 'odd', 'workflows/w', now(), $2)`,
      [runId, `{"node":"q","text":"a${text}"}`],
    );
  }
  const waiting = runs.map(({ runId }) => ({ runId, status: 'input-required' as const }));
  const found = await new RunWaits(database).addWaits(waiting, { tenant: 't', owner: 'odd' });
  expect(found.map(({ waitsFor }) => waitsFor)).toEqual([
    ...Array(3).fill({ instance: 'q' }),
    { instance: 'q', question: 'a\ud83d\ude00' },
  ]);
});

type PlanNode = Record<string, unknown> & { Plans?: PlanNode[] };

function listNodes(node: unknown): PlanNode[] {
  const { Plans = [], ...own } = node as PlanNode;
  return [own, ...Plans.flatMap(listNodes)];
}
