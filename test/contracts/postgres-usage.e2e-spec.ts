import { randomUUID } from 'node:crypto';
import type { Database } from '#libs/postgres';
import {
  type BudgetLimits,
  FoldMemory,
  type JournalEntry,
  PostgresTaskStore,
  RunBudgets,
  TaskPurge,
  TaskRetention,
  TaskUsage,
  type UsageGrouping,
} from '#libs/tasks';
import type { TestDatabase } from '../support/postgres.js';
import { newDraft } from './task-draft.js';
import { openTaskDatabase } from './task-database.js';

type Draft = ReturnType<typeof newDraft>;
type Caller = Omit<Draft, 'token'> & { token: string };
type Used = NonNullable<JournalEntry['used']>;
type Call = Used['calls'][number];
type BudgetedCall = Parameters<RunBudgets['requestCall']>[0];

let server: TestDatabase;
let database: Database;
let store: PostgresTaskStore;
let retention: TaskRetention;
let usage: TaskUsage;
let budgets: RunBudgets;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
  store = new PostgresTaskStore(database);
  retention = new TaskRetention();
  usage = new TaskUsage(database, retention);
  budgets = new RunBudgets(database);
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

const NODE = 'workflows/w/nodes/n';
const NO_TOKENS = { calls: 0, unreportedCalls: 0, unpricedCalls: 0 };

it('counts each call once for its day, and once for each Task above it', async () => {
  const owner = randomUUID();
  const run = newDraft({ owner });
  const node = newDraft({ owner, agent: NODE, parentTaskId: run.taskId });
  // A child run, which began in the same batch as the call of its node.
  const child = newDraft({ owner, agent: 'workflows/w/nodes/sub', parentTaskId: run.taskId });
  const inner = newDraft({ owner, agent: 'workflows/inner/nodes/x', parentTaskId: child.taskId });
  await store.writeBatch([
    run.created(),
    node.created(),
    child.created(),
    called(inner, inner.created(), [known('small', 7, 1, { cached: 5 })]),
  ]);
  await store.writeBatch([
    called(node, node.continued(node.token, 1, node.status('TASK_STATE_WORKING')), [
      known('large', 100, 20, { reasoning: 8, cost: '0.000000000001' }),
      known('large', 10, 2, { cache_write: 6, cost: '0.1' }),
      { model: 'large' },
    ]),
  ]);
  const own = {
    ...{ calls: 3, unreportedCalls: 1, unpricedCalls: 1 },
    ...{ inputTokens: 110, outputTokens: 22, cacheWriteInputTokens: 6, reasoningTokens: 8, cost: '0.100000000001' },
  };
  const small = {
    calls: 1,
    unreportedCalls: 0,
    unpricedCalls: 1,
    inputTokens: 7,
    outputTokens: 1,
    cachedInputTokens: 5,
  };
  const total = {
    ...{ calls: 4, unreportedCalls: 1, unpricedCalls: 2, inputTokens: 117, outputTokens: 23 },
    ...{ cachedInputTokens: 5, cacheWriteInputTokens: 6, reasoningTokens: 8, cost: '0.100000000001' },
  };
  const asked = [
    { taskId: run.taskId, workflow: 'w' },
    { taskId: child.taskId, workflow: 'inner' },
    { taskId: node.taskId, workflow: 'w' },
  ];
  const found = await usage.readTasks({ tenant: '', owner }, asked);
  const models = [
    { key: 'large', ...own },
    { key: 'small', ...small },
  ];
  expect(found.get(run.taskId)).toEqual({ own, total, models });
  expect(found.get(child.taskId)).toEqual({ own: small, total: small, models: models.slice(1) });
  expect(found.get(node.taskId)).toEqual({ own, total: own, models: models.slice(0, 1) });
  const rows = [
    { taskId: run.taskId, agent: 'workflows/w', sums: total },
    { taskId: node.taskId, parentTaskId: run.taskId, agent: NODE, sums: own },
    { taskId: child.taskId, parentTaskId: run.taskId, agent: 'workflows/w/nodes/sub', sums: small },
    { taskId: inner.taskId, parentTaskId: child.taskId, agent: 'workflows/inner/nodes/x', sums: small },
  ];
  const tree = await usage.readTree(run.taskId, { tenant: '', owner }, 9);
  expect(tree).toEqual(expect.arrayContaining(rows));
  expect([tree.length, tree[0]?.taskId, tree[3]?.taskId]).toEqual([4, run.taskId, inner.taskId]);
  expect(await usage.readTree(run.taskId, { tenant: '', owner }, 1)).toEqual(rows.slice(0, 1));
  expect(await usage.readTree(child.taskId, { tenant: '', owner: randomUUID() }, 9)).toEqual([]);
  expect(await report('workflow', owner)).toEqual({
    total,
    groups: [
      { key: 'w', ...own },
      { key: 'inner', ...small },
    ],
  });
  expect(await report('model', owner)).toEqual({ total, groups: models });
  expect(await report('caller', owner)).toEqual({ total, groups: [{ key: owner, ...total }] });
  expect(await report('day', owner)).toEqual({
    total,
    groups: [{ key: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), ...total }],
  });
});

it('counts nothing of an entry that is fenced', async () => {
  const owner = randomUUID();
  const run = newDraft({ owner });
  const node = newDraft({ owner, agent: NODE, parentTaskId: run.taskId });
  await store.writeBatch([run.created(), node.created()]);
  const entry = called(node, node.continued(node.token, 1, node.status('TASK_STATE_WORKING')), [known('large', 1, 1)]);
  expect(await store.writeBatch([{ ...entry, token: 'lost' }])).toEqual(['fenced']);
  expect(await report('day', owner)).toEqual({ total: NO_TOKENS, groups: [] });
  expect(await store.writeBatch([entry])).toEqual(['written']);
  // A second execution of the same turn, whose event is in the log already.
  expect(await store.writeBatch([entry])).toEqual(['fenced']);
  expect((await report('day', owner)).total).toMatchObject({ calls: 1, inputTokens: 1 });
});

it('shows unknown tokens as unknown, and the callers of a tenant separately', async () => {
  const [ann, bob] = [randomUUID(), randomUUID()];
  const direct = newDraft({ owner: ann, agent: NODE });
  await store.writeBatch([called(direct, direct.created(), [{ model: 'mute' }])]);
  const other = newDraft({ owner: bob, agent: NODE });
  await store.writeBatch([called(other, other.created(), [known('m', 5, 5)])]);
  const unknown = { calls: 1, unreportedCalls: 1, unpricedCalls: 1 };
  expect(await report('workflow', ann)).toEqual({ total: unknown, groups: [{ key: 'w', ...unknown }] });
  const all = await report('caller', ann, { isWholeTenant: true });
  expect(all.groups.map(({ key }) => key)).toEqual(expect.arrayContaining([ann, bob]));
  expect((await report('caller', ann, { isWholeTenant: true, tenant: 'other' })).groups).toEqual([]);
  expect((await report('caller', ann, { isWholeTenant: true, limit: 1 })).groups).toHaveLength(1);
});

it('keeps the sums of a day when the Tasks are purged and the writer is gone', async () => {
  const owner = randomUUID();
  const run = newDraft({ owner });
  const node = newDraft({ owner, agent: NODE, parentTaskId: run.taskId });
  await store.writeBatch([run.created(), called(node, node.created(), [known('m', 3, 4, { cost: '1.5' })])]);
  for (const draft of [node, run])
    await store.writeBatch([draft.continued(draft.token, 1, draft.status('TASK_STATE_COMPLETED'))]);
  const before = await report('day', owner);
  await new TaskPurge(database, retention, new FoldMemory()).purgeTasks(
    new Date(Date.now() + 60_000),
    AbortSignal.timeout(60_000),
  );
  const asked = [{ taskId: run.taskId, workflow: 'w' }];
  expect(await usage.readTasks({ tenant: '', owner }, asked)).toEqual(new Map());
  await server.query('DELETE FROM task_count_rest');
  await server.query('DELETE FROM task_writer');
  await usage.mergeDays(AbortSignal.timeout(60_000));
  expect(await report('day', owner)).toEqual(before);
  expect(await server.query('SELECT DISTINCT writer FROM usage_day')).toEqual([{ writer: '' }]);
  await server.query(`UPDATE usage_day SET day = day - 801 WHERE owner = '${owner}'`);
  await usage.mergeDays(AbortSignal.timeout(60_000));
  expect(await server.query('SELECT FROM usage_day WHERE owner = $1', [owner])).toEqual([]);
});

it('reads a report by index, whatever the number of other callers and days', async () => {
  await server.query(
    `INSERT INTO usage_day SELECT 't' || n % 7, 'o' || n % 100, '2020-01-01'::date + n % 700, 'w' || n, 'm', '', 1, 1, 0, 1, 1, 0, 0, 0
     FROM generate_series(1, 20000) AS n`,
  );
  await server.query('ANALYZE usage_day');
  const plan = async (condition: string) =>
    JSON.stringify(
      await server.query(
        `EXPLAIN SELECT workflow, sum(calls) FROM usage_day
         WHERE tenant = 't1' AND ${condition} AND day BETWEEN '2020-03-01' AND '2020-03-30' GROUP BY workflow`,
      ),
    );
  expect(await plan(`owner = 'o1'`)).toContain('usage_day_pkey');
  expect(await plan(`'o1'::text IS NOT NULL`)).toContain('usage_day_tenant');
});

describe('the budget of a run', () => {
  const spend = { usd: '0.4', tokens: 10, isPriced: true };

  /** Opens a run with a budget and two nodes that call models. */
  async function openRun(limits: BudgetLimits) {
    const owner = randomUUID();
    const scope = { tenant: '', owner };
    const run = newDraft({ owner });
    const nodes = [1, 2].map(() => newDraft({ owner, agent: NODE, parentTaskId: run.taskId }));
    await store.writeBatch([run.created(), ...nodes.map((node) => node.created())]);
    await budgets.openBudget({ taskId: run.taskId, workflow: 'w', scope }, limits);
    const request = (node: Caller, more: Partial<BudgetedCall> = {}) =>
      budgets.requestCall({ scope, taskId: node.taskId, token: node.token, budgets: [run.taskId], ...spend, ...more });
    const answered = (node: Caller, after: number, cost: string | undefined) =>
      store.writeBatch([
        called(node, node.continued(node.token, after, node.status('TASK_STATE_WORKING')), [
          known('m', 7, 3, cost === undefined ? {} : { cost }),
        ]),
      ]);
    return { run, scope, nodes: nodes as [Draft, Draft], request, answered };
  }

  it('admits calls until less than nothing is left, and replaces estimates by costs in the commit of answers', async () => {
    const { run, scope, nodes, request, answered } = await openRun({ usd: 1 });
    const [one, two] = nodes;
    expect(await request(one)).toEqual({ kind: 'admitted', warnings: [] });
    expect(await request(two, { usd: '0.7' })).toEqual({ kind: 'admitted', warnings: [] });
    // The two calls reserve everything: whether a third may be made depends on what they cost.
    const third = newDraft({ owner: scope.owner, agent: NODE, parentTaskId: run.taskId });
    await store.writeBatch([third.created()]);
    expect(await request(third)).toEqual({ kind: 'full' });
    await answered(one, 1, '0.1');
    expect(await budgets.readBudget(run.taskId, scope)).toMatchObject({ spentUsd: '0.1', spentTokens: 10 });
    expect(await request(third)).toEqual({ kind: 'admitted', warnings: [] });
    await answered(two, 1, '0.95');
    const limit = { runId: run.taskId, workflow: 'w', unit: 'usd', limit: '1', spent: '1.05', onExceeded: 'stop' };
    expect(await request(one)).toEqual({ kind: 'exceeded', budget: limit });
    expect(await budgets.findExceeded([run.taskId], scope)).toEqual(limit);
    expect(await budgets.findExceeded([run.taskId], { tenant: '', owner: 'another' })).toBeUndefined();
  });

  it('counts the estimate of a call whose execution is gone, and that of a call without a known cost', async () => {
    const { run, scope, nodes, request, answered } = await openRun({ usd: 1 });
    const [one, two] = nodes;
    await request(one);
    await server.query(`UPDATE task SET claim_token = 'adopted' WHERE task_id = $1`, [one.taskId]);
    expect(await budgets.readBudget(run.taskId, scope)).toMatchObject({ spentUsd: '0.4' });
    // The replica that has adopted the Task repeats the call.
    const adopted = { ...one, token: 'adopted' };
    await request(adopted);
    await answered(adopted, 1, '0.05');
    expect(await budgets.readBudget(run.taskId, scope)).toMatchObject({ spentUsd: '0.45', spentTokens: 20 });
    await request(two);
    await answered(two, 1, undefined);
    expect(await budgets.readBudget(run.taskId, scope)).toMatchObject({ spentUsd: '0.85', spentTokens: 30 });
  });

  it('counts nothing of an answer that is fenced, nor of a call that the provider refused', async () => {
    const { run, scope, nodes, request } = await openRun({ tokens: 100 });
    const [one] = nodes;
    await request(one);
    const entry = one.continued('lost', 1, one.status('TASK_STATE_WORKING'));
    expect(await store.writeBatch([called(one, entry, [known('m', 50, 50)])])).toEqual(['fenced']);
    expect(await budgets.readBudget(run.taskId, scope)).toMatchObject({ tokens: 100, spentTokens: 0 });
    await budgets.releaseCall(one);
    expect(await server.query('SELECT FROM budget_charge WHERE budget = $1', [run.taskId])).toEqual([]);
  });

  it('admits no more of many concurrent calls than the limit pays for', async () => {
    const { run, scope, request } = await openRun({ usd: 2 });
    const many = Array.from({ length: 12 }, () => newDraft({ owner: scope.owner, parentTaskId: run.taskId }));
    await store.writeBatch(many.map((node) => node.created()));
    const kinds = await Promise.all(many.map(async (node) => (await request(node)).kind));
    // Each reserves 0.4 of 2, and the last one may go beyond.
    expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(5);
    expect(kinds.filter((kind) => kind === 'full')).toHaveLength(7);
  });

  it('warns once, refuses a model without a price, and is raised once by a Message', async () => {
    const warning = await openRun({ usd: 0.1, onExceeded: 'warn' });
    const [one, two] = warning.nodes;
    await warning.request(one);
    await warning.answered(one, 1, '0.2');
    const first = await warning.request(two);
    expect(first).toMatchObject({ kind: 'admitted', warnings: [{ limit: '0.1', spent: '0.2', onExceeded: 'warn' }] });
    expect(await warning.request(one)).toEqual({ kind: 'admitted', warnings: [] });
    expect(await warning.request(one, { isPriced: false })).toEqual({ kind: 'unpriced', workflow: 'w' });
    const asking = await openRun({ tokens: 10, onExceeded: 'ask' });
    const raise = { unit: 'tokens', more: 5, by: 'message' } as const;
    for (const scope of [asking.scope, asking.scope, { tenant: '', owner: 'another' }])
      await budgets.raiseLimit(asking.run.taskId, scope, raise);
    expect(await budgets.readBudget(asking.run.taskId, asking.scope)).toMatchObject({ tokens: 15 });
    // A budget of another caller does not count: the chain of calls that names it was passed on.
    const stranger = { scope: { tenant: '', owner: 'another' }, budgets: [asking.run.taskId] };
    expect(await asking.request(asking.nodes[0], stranger)).toEqual({ kind: 'admitted', warnings: [] });
  });

  it('keeps few rows for many calls, and none when the run is deleted', async () => {
    const { run, scope, nodes, request } = await openRun({ tokens: 1_000_000 });
    await server.query(
      `INSERT INTO budget_charge (budget, task_id, claim, usd, tokens, is_settled)
       SELECT $1, $1, '', 0, 2, true FROM generate_series(1, 501)`,
      [run.taskId],
    );
    await request(nodes[0]);
    expect(await budgets.readBudget(run.taskId, scope)).toMatchObject({ spentTokens: 1002 });
    const rows = await server.query('SELECT FROM budget_charge WHERE budget = $1', [run.taskId]);
    expect(rows).toHaveLength(2);
    await server.query('DELETE FROM task WHERE task_id = $1', [run.taskId]);
    expect(await server.query('SELECT FROM budget_charge WHERE budget = $1', [run.taskId])).toEqual([]);
  });
});

/** The report of all days. */
function report(
  groupBy: UsageGrouping,
  owner: string,
  more: { tenant?: string; isWholeTenant?: boolean; limit?: number } = {},
) {
  const days = { since: '2000-01-01', until: '2999-12-31' };
  return usage.sumDays({ tenant: '', owner, isWholeTenant: false, ...days, groupBy, limit: 100, ...more });
}

function known(model: string, input: number, output: number, more: Partial<Call['tokens']> = {}): Call {
  return { model, tokens: { input, output, cached: 0, cache_write: 0, reasoning: 0, ...more } };
}

/** An entry whose events report calls. */
function called(draft: Caller, entry: JournalEntry, calls: readonly Call[]): JournalEntry {
  return { ...entry, used: { header: draft.created().create!.header, calls } };
}
