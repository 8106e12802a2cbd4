import type { Database } from '#libs/postgres';
import type { TaskState } from '#libs/protocol';
import {
  FoldMemory,
  PostgresTaskStore,
  TaskCounts,
  TaskPurge,
  type TaskQuery,
  TaskQuestions,
  TaskRetention,
  TaskTextSearch,
} from '#libs/tasks';
import type pg from 'pg';
import type { TestDatabase } from '../support/postgres.js';
import { newDraft } from './task-draft.js';
import { openTaskDatabase } from './task-database.js';

const TASKS = 4_000;
const LIMIT = 5;
const DAY_MS = 86_400_000;
const SCOPE = { tenant: '', owner: 'o7' };

let server: TestDatabase;
let database: Database;
/** What was asked for, as it was asked. */
const asked: { text: string; values: unknown[] }[] = [];

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
  listen(database.pool);
  const tunedPool = database.tunedPool.bind(database);
  database.tunedPool = (purpose, ...args) => {
    const pool = tunedPool(purpose, ...args);
    // Lists are asked in sessions that they hold.
    if (purpose === 'lists') pool.on('connect', (session) => void listen(session));
    return listen(pool);
  };
  await fill();
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

describe('the indexes of Tasks', () => {
  it('are those that the statements go by, and those that keep rows unique', async () => {
    await askEverything();
    const used = new Set<string>();
    for (const { text, values } of asked) for (const index of await indexesOf(text, values)) used.add(index);
    const all = (await server.query(
      `SELECT indexrelid::regclass::text AS name FROM pg_index
       WHERE NOT indisunique AND indrelid::regclass::text LIKE 'task%'`,
    )) as { name: string }[];
    expect(all.length).toBeGreaterThan(5);
    expect(all.flatMap(({ name }) => (used.has(name) ? [] : [name]))).toEqual([]);
  });
});

describe('a page of the list of runs', () => {
  const STATES: TaskState[] = ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED'];
  const cases: [what: string, filter: Partial<TaskQuery>][] = [
    ['all runs', { agent: 'workflows/*', states: STATES }],
    ['a state that no run has', { agent: 'workflows/*', states: ['TASK_STATE_FAILED'] }],
    ['one workflow', { agent: 'workflows/a7' }],
    ['a state that no run of a workflow has', { agent: 'workflows/a7', states: ['TASK_STATE_FAILED'] }],
    ['a time', { agent: 'workflows/*', states: STATES, updatedBefore: new Date(Date.now() + TASKS * 500) }],
    ['the name of a workflow', { agent: 'workflows/*', states: STATES, search: 'a7' }],
    ['a caller without runs', { agent: 'workflows/*', states: STATES, scope: { ...SCOPE, owner: 'nobody' } }],
  ];

  it.each(cases)('with %s reads no more rows than it shows', async (_what, filter) => {
    asked.length = 0;
    const query = { scope: SCOPE, limit: LIMIT, ...filter };
    await new PostgresTaskStore(database).readPage(query, { bytes: 1_000_000, admitBytes: async () => undefined });
    const counts = new TaskCounts(database);
    await counts.countNewest(query);
    await new TaskTextSearch(database).searchTasks(query, 'nothing');
    const statements = asked.filter(({ text }) => text.includes('FROM task'));
    expect(statements.length).toBeGreaterThanOrEqual(3);
    for (const { text, values } of statements) {
      const scans = await scansOfTasks(text, values);
      expect(scans.map((scan) => scan['Node Type'])).not.toContain('Seq Scan');
      // Each state is read on its own, up to the limit, and one row more shows whether a page follows.
      const rows = scans.reduce((sum, scan) => sum + examinedRows(scan), 0);
      expect([rows <= STATES.length * (LIMIT + 1), scans]).toEqual([true, scans]);
    }
  });
});

type PlanNode = Record<string, unknown> & { Plans?: PlanNode[] };

/** Executes a statement, and returns the scans of the table `task` in its plan. */
async function scansOfTasks(text: string, values: unknown[]): Promise<PlanNode[]> {
  const { rows } = await database.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
  const listNodes = ({ Plans = [], ...node }: PlanNode): PlanNode[] => [node, ...Plans.flatMap(listNodes)];
  return listNodes(rows[0]['QUERY PLAN'][0].Plan).filter((node) => node['Relation Name'] === 'task');
}

/** Returns the number of rows that a scan read, also those that its filter dropped. */
function examinedRows(scan: PlanNode): number {
  const [rows, dropped, loops] = ['Actual Rows', 'Rows Removed by Filter', 'Actual Loops'].map((key) =>
    Number(scan[key] ?? 0),
  );
  return Math.round((rows! + dropped!) * loops!);
}

/** Every statement that looks for Tasks, or for what hangs on them. */
async function askEverything(): Promise<void> {
  const store = new PostgresTaskStore(database);
  const [one, two] = [newDraft({ owner: 'o7' }), newDraft({ owner: 'o7' })];
  await store.writeBatch([one.created(one.status('TASK_STATE_INPUT_REQUIRED')), two.created()]);
  await store.loadTask(one.taskId, SCOPE);
  await store.readEvents(one.taskId, 0, 10);
  const failed = { agent: 'workflows/*', states: ['TASK_STATE_FAILED' as const] };
  for (const filter of [{}, failed, { agent: 'workflows/a7' }, { contextId: one.contextId }]) {
    await store.readPage(
      { scope: SCOPE, ...filter, limit: 10 },
      { bytes: 1_000_000, admitBytes: async () => undefined },
    );
  }
  await store.listChildren(one.taskId);
  await store.listClaims('r1');
  await store.cancelRequests('r1');
  await store.listClaimants();
  await store.listClaimants(['r1']);
  await store.findOverdue(0, 10);
  // More than it finds, so that callers take turns.
  await store.findOverdue(-2 * DAY_MS, 10);
  await store.lastSequences([one.taskId]);
  await store.readHeaders([one.taskId]);
  await store.findKeyedRequest(SCOPE, 'workflows/a7', 'k7');
  await new TaskCounts(database).countTasks({ scope: SCOPE });
  const questions = new TaskQuestions(database);
  await questions.listQuestions({ scope: SCOPE, limit: 10 });
  await questions.listQuestions({ scope: SCOPE, assignee: 'me', limit: 10 });
  await new TaskPurge(database, new TaskRetention(), new FoldMemory()).purgeTasks(
    new Date(0),
    AbortSignal.timeout(180_000),
  );
  // Part of the purge of revisions (libs/workflows), whose tables are not here.
  await database.pool.query(`SELECT tenant, agent, created_at FROM task WHERE substr(task_id, 15, 1) <> '7'`);
}

/** The indexes that a statement is answered by, among so many Tasks and beyond. */
async function indexesOf(text: string, values: unknown[]): Promise<string[]> {
  if (!/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)/.test(text)) return [];
  const client = await database.pool.connect();
  try {
    await client.query('BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off');
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${text}`, values);
    return [...JSON.stringify(rows).matchAll(/"(?:Index Name|Conflict Arbiter Indexes)": ?\[?"?([^"\]]+)/g)].map(
      ([, name = '']) => name,
    );
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

function listen<T extends Pick<pg.Pool, 'query'>>(pool: T): T {
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<unknown>;
  const recorded = (...args: unknown[]): Promise<unknown> => {
    const [statement, values] = args as [string | { text: string; values?: unknown[] }, unknown[] | undefined];
    const known = typeof statement === 'string' ? { text: statement, values } : statement;
    asked.push({ text: known.text, values: known.values ?? [] });
    return query(...args);
  };
  pool.query = recorded as unknown as typeof pool.query;
  return pool;
}

async function fill(): Promise<void> {
  await server.query(
    `INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, parent_task_id, replica_id,
                       claim_token, created_at, updated_at, wake_at)
     SELECT 't' || n, 'c' || n, '', 'o' || n % 9, 'workflows/a' || n % 20, 'TASK_STATE_WORKING', 1,
            CASE WHEN n % 10 = 0 THEN 't' || n - 1 END, CASE WHEN n % 50 = 1 THEN 'r1' END,
            CASE WHEN n % 50 = 1 THEN 'x' END, now(), now() + n * interval '1 second',
            CASE WHEN n % 50 = 2 THEN now() + interval '1 day' END
     FROM generate_series(1, $1::int) AS n`,
    [TASKS],
  );
  await server.query(
    `INSERT INTO task_event (task_id, sequence, payload, recorded_at)
     SELECT task_id, 1, json_build_object('task', json_build_object('id', task_id, 'contextId', context_id,
            'status', json_build_object('state', 'TASK_STATE_SUBMITTED'))), now() FROM task`,
  );
  await server.query(
    `INSERT INTO task_key (tenant, owner, agent, key, fingerprint, task_id, created_at)
     SELECT '', owner, agent, 'k' || task_id, 'f', task_id, updated_at FROM task`,
  );
  await server.query(
    `INSERT INTO task_question (task_id, key, tenant, owner, agent, assignee, since, body)
     SELECT task_id, '', tenant, owner, agent, CASE WHEN task_id LIKE '%9' THEN context_id END, now(), '{}' FROM task`,
  );
  await server.query('ANALYZE');
}
