import type pg from 'pg';
import type { Database } from '#libs/postgres';
import { type JournalEntry, PostgresTaskStore } from '#libs/tasks';
import { PostgresWorkflowStore, WORKFLOW_MIGRATIONS } from '#libs/workflows';
import type { TestDatabase } from '../support/postgres.js';
import { openTaskDatabase } from './task-database.js';
import { newDraft } from './task-draft.js';

type TunedPool = Parameters<Database['tunedPool']>;

let server: TestDatabase;
let database: Database;
/** Texts of the journal's statements. */
const texts = new Set<string>();
/** Settings of the journal's sessions. */
let settings: TunedPool[2];

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase(WORKFLOW_MIGRATIONS));
  const tunedPool = database.tunedPool.bind(database);
  database.tunedPool = (...[purpose, most, tuning]: TunedPool) => {
    const pool = tunedPool(purpose, most, tuning);
    if (purpose !== 'journal') return pool;
    settings = tuning;
    pool.on('connect', noteTexts);
    return pool;
  };
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

function noteTexts(session: pg.ClientBase): void {
  const query = session.query.bind(session) as (...args: unknown[]) => unknown;
  session.query = ((...args: unknown[]) => {
    const { name = '', text = '' } = args[0] as { name?: string; text?: string };
    if (name.startsWith('journal-')) texts.add(text);
    return query(...args);
  }) as typeof session.query;
}

/** Scans of stored tables in a plan that read all rows: those without a condition on an index. */
function wholeScans(plan: unknown): string[] {
  if (Array.isArray(plan)) return plan.flatMap(wholeScans);
  if (typeof plan !== 'object' || plan === null) return [];
  const node = plan as Record<string, unknown>;
  const type = String(node['Node Type'] ?? '');
  const isScan = /^(Seq Scan|Index Scan|Index Only Scan|Bitmap Index Scan)$/.test(type);
  const isWhole = isScan && node['Index Cond'] === undefined && node['Index Name'] !== 'replica_of_before';
  const found = isWhole ? [`${type} ${String(node['Relation Name'] ?? node['Index Name'])}`] : [];
  return [...found, ...Object.values(node).flatMap(wholeScans)];
}

it('looks up rows by key in plans that were made for empty tables', async () => {
  const workflows = new PostgresWorkflowStore(database);
  const store = new PostgresTaskStore(database);
  await workflows.createWorkflow({ name: 'w', nodes: [{ id: 'n', type: 'agent', config: {} }], edges: [] });
  await workflows.get('w');
  const { premise } = workflows.recentRevision('w')!;
  const [run, other] = [newDraft(), newDraft()];
  const node = newDraft({ agent: 'workflows/w/nodes/n', parentTaskId: run.taskId });
  const onPremise = (entry: JournalEntry): JournalEntry => ({ ...entry, create: { ...entry.create!, premise } });
  const { header } = node.created().create!;
  const used = { header, calls: [{ model: 'm' }] };
  expect(await store.writeBatch([onPremise(run.created()), onPremise(other.created())])).toEqual([
    'written',
    'written',
  ]);
  expect(await store.writeBatch([{ ...node.created(), used }])).toEqual(['written']);
  const plans = database.tunedPool('plans', 1, { ...settings, 'parley.writer': 'w' });
  const whole: string[] = [];
  for (const text of texts) {
    const { rows } = await plans.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
    whole.push(...wholeScans(rows));
  }
  expect([texts.size, whole]).toEqual([2, []]);
});
