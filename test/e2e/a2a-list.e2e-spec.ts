import type { ListTasksResponse, Task } from '#libs/protocol';
import { blamedFields, rest, rpc, sendTask } from '../support/a2a.js';
import { range } from '../support/sse.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, ruled, unique } from '../support/workflow.js';

const stage = useSharedStage();
let base: string;
let asks: string;
const tasks: Task[] = [];

beforeAll(async () => {
  const name = unique('list');
  await stage.api.save({
    name,
    nodes: [echo('echo'), ruled('asks', [{ when: { turn: 1 }, steps: [{ ask: '?' }] }])],
    edges: [],
  });
  base = stage.api.base(name, 'echo');
  asks = stage.api.base(name, 'asks');
  for (const n of range(1, 7))
    tasks.push(await sendTask(base, `t${n}`, { fields: n > 5 ? { contextId: 'ctx-late' } : {} }));
});

async function list(fields: Record<string, string | number | boolean> = {}): Promise<ListTasksResponse> {
  const overRpc = await rpc<ListTasksResponse>(base, 'ListTasks', fields);
  const query = new URLSearchParams(
    Object.entries(fields).map(([key, value]): [string, string] => [key, String(value)]),
  );
  const overRest = await rest<ListTasksResponse>(base, 'GET', `/tasks?${query}`);
  if (overRpc.body.result === undefined) throw new Error(JSON.stringify(overRpc.body));
  expect(JSON.parse(JSON.stringify(overRest.body))).toEqual(overRpc.body.result);
  return overRpc.body.result;
}

describe('A2A ListTasks, the same over JSON-RPC and REST', () => {
  it('gives the Tasks of this agent, newest status first, without Artifacts, with total and an empty token', async () => {
    const page = await list();
    expect(page.tasks.map(({ id }) => id)).toEqual(tasks.map(({ id }) => id).reverse());
    expect(page).toMatchObject({ totalSize: 7, nextPageToken: '' });
    expect(page.pageSize).toBeGreaterThanOrEqual(7);
    for (const task of page.tasks) expect(task).not.toHaveProperty('artifacts');
  });

  it('gives Artifacts where they are asked for', async () => {
    const page = await list({ includeArtifacts: true });
    expect(page.tasks[0]?.artifacts?.[0]?.parts[0]?.text).toBe('t7');
  });

  it('pages through all of them once', async () => {
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await list({ pageSize: 3, ...(pageToken !== '' && { pageToken }) });
      expect(page).toMatchObject({ totalSize: 7, pageSize: 3 });
      expect(page.tasks.length).toBeLessThanOrEqual(3);
      seen.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toEqual(tasks.map(({ id }) => id).reverse());
  });

  it('a Task that comes between two pages disturbs neither', async () => {
    const other = await list({ pageSize: 3, contextId: 'ctx-none' });
    expect(other).toMatchObject({ tasks: [], totalSize: 0, nextPageToken: '' });
    const first = await list({ pageSize: 4 });
    const late = await sendTask(base, 'between');
    const second = await list({ pageSize: 4, pageToken: first.nextPageToken });
    expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(tasks.map(({ id }) => id).reverse());
    tasks.push(late);
  });

  it('filters by context, by state and by time', async () => {
    expect((await list({ contextId: 'ctx-late' })).tasks.map(({ id }) => id)).toEqual([tasks[6]?.id, tasks[5]?.id]);
    expect((await list({ status: 'TASK_STATE_WORKING' })).tasks).toEqual([]);
    expect((await list({ status: 'TASK_STATE_COMPLETED' })).totalSize).toBe(tasks.length);
    const cut = tasks[5]?.status.timestamp ?? '';
    const later = (await list({ statusTimestampAfter: cut })).tasks.map(({ id }) => id);
    expect(later).toContain(tasks[6]?.id);
    expect(later).not.toContain(tasks[4]?.id);
  });

  it('a Task that moves on comes first again', async () => {
    const early = await sendTask(asks, 'q');
    const late = await sendTask(asks, 'q');
    await sendTask(asks, 'a', { fields: { taskId: early.id } });
    const { body } = await rpc<ListTasksResponse>(asks, 'ListTasks', {});
    expect(body.result?.tasks.map(({ id }) => id)).toEqual([early.id, late.id]);
  });

  it('historyLength cuts the history', async () => {
    for (const task of (await list({ historyLength: 0 })).tasks) expect(task).not.toHaveProperty('history');
    expect((await list({ historyLength: 1 })).tasks[0]?.history).toHaveLength(1);
  });

  it('/a2a lists the Tasks of every agent', async () => {
    // Other files' Tasks are older, and may be what only those files can read.
    const [first] = tasks.map(({ status }) => status.timestamp).toSorted();
    const params = { pageSize: 100, statusTimestampAfter: first };
    const { body } = await rpc<ListTasksResponse>(`${stage.parley.url}/a2a`, 'ListTasks', params);
    expect(body).toHaveProperty('result');
    const found = body.result?.tasks.map(({ id }) => id);
    expect(found).toEqual(expect.arrayContaining(tasks.map(({ id }) => id)));
    expect(body.result?.totalSize).toBeGreaterThan(tasks.length);
  });

  it.each<[string, string | number]>([
    ['pageSize', 0],
    ['pageSize', 101],
    ['pageSize', -1],
    ['historyLength', -1],
    ['status', 'TASK_STATE_RUNNING'],
    ['pageToken', 'garbage'],
    ['pageToken', 'bm90IGEgY3Vyc29y'],
    ['statusTimestampAfter', 'yesterday'],
    ['statusTimestampAfter', '2026-02-30T00:00:00Z'],
    ['statusTimestampAfter', '0000-01-01T00:00:00Z'],
  ])('%s of %p is refused by name in both bindings', async (field, value) => {
    const overRpc = await rpc(base, 'ListTasks', { [field]: value });
    expect(overRpc.body.error).toMatchObject({ code: -32602 });
    expect(blamedFields(overRpc.body.error?.data)).toEqual([field]);
    const overRest = await rest(base, 'GET', `/tasks?${field}=${value}`);
    expect(overRest.status).toBe(400);
    expect(blamedFields(overRest.body.error?.details)).toEqual([field]);
  });
});
