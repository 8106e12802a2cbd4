import type { JsonObject, ListTasksResponse, Task } from '#libs/protocol';
import { getTask, rpc, sendParams, sendTask } from '../support/a2a.js';
import { holds } from '../support/fake-behaviour.js';
import { type Parley, startParley } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, external, input, linear, output, script, unique, type WorkflowNode } from '../support/workflow.js';

const stage = useStage();
const GONE = /definition that .* was started with is gone/;

const parks: WorkflowNode = { id: 'w', type: 'wait', config: { for: '2h' } };
const asks = script('q', { ask: 'which?' });
const human: WorkflowNode = { id: 'h', type: 'human', config: { prompt: 'Yes or no?' } };

/** Of each executor a Task in each state that is no end, by what it is and the path of its agent. */
const TASKS: [string, WorkflowNode, string, string][] = [
  ['a run that asks', asks, '', 'TASK_STATE_INPUT_REQUIRED'],
  ['a run that asks a person', human, '', 'TASK_STATE_INPUT_REQUIRED'],
  ['a run that wants authentication', script('q', { authorize: 'who?' }), '', 'TASK_STATE_AUTH_REQUIRED'],
  ['a run that is parked', parks, '', 'TASK_STATE_WORKING'],
  ['a node that asks', asks, 'q', 'TASK_STATE_INPUT_REQUIRED'],
  ['a node that wants authentication', script('q', { authorize: 'who?' }), 'q', 'TASK_STATE_AUTH_REQUIRED'],
  ['a node that asks a person', human, 'h', 'TASK_STATE_INPUT_REQUIRED'],
  [
    'a node that runs a workflow',
    { id: 'n', type: 'workflow', config: { body: { nodes: [{ ...asks }], edges: [] } as never } },
    'n',
    'TASK_STATE_INPUT_REQUIRED',
  ],
];

interface Left {
  what: string;
  name: string;
  base: string;
  id: string;
  state: string;
  isRun: boolean;
}

describe('Tasks whose definition is gone', () => {
  const left: Left[] = [];
  let replica: Parley;
  let api: Api;
  let working: { runId: string; children: string[] };

  beforeAll(async () => {
    for (const [what, node, at, state] of TASKS) {
      const { name } = await stage.api.save({ ...linear(unique('gone'), node), language: 2 } as never);
      const base = at === '' ? stage.api.base(name) : stage.api.base(name, at);
      const { id } = await sendTask(base, 'hello', { configuration: { returnImmediately: true } });
      left.push({ what, name, base: base.slice(stage.parley.url.length), id, state, isRun: at === '' });
      await until(async () => (await rowOf(id)).state === state && (await rowOf(id)).replica_id === null, { what });
    }
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    const { name } = await stage.api.save(linear(unique('gone'), input('in'), external('x', fake.url), output('o')));
    const runId = await stage.api.start(name, { in: 'a' });
    await fake.sent();
    working = { runId, children: await childrenOf(runId) };
    await stage.parley.kill9();
    for (const table of ['workflow_pin', 'run_revision', 'workflow_summary', 'workflow_node', 'workflow_revision'])
      await stage.database.query(`DELETE FROM ${table}`);
    await stage.database.query('UPDATE workflow SET deleted_at = now()');
    replica = await startParley({ databaseUrl: stage.database.url });
    api = new Api(replica.url);
  });

  afterAll(() => replica?.stop());

  it.each(TASKS.map(([what], index) => [what, index] as const))(
    '%s: is read, listed and canceled',
    async (_what, index) => {
      const { base: path, name, id, state, isRun } = left[index]!;
      const base = `${replica.url}${path}`;
      for (const at of [base, `${replica.url}/a2a`]) {
        expect((await getTask(at, id)).status.state).toBe(state);
        const listed = await rpc<ListTasksResponse>(at, 'ListTasks', {});
        expect(listed.body.result?.tasks.map((task) => task.id)).toContain(id);
        const told = await rpc(at, 'SendMessage', sendParams('yes', { fields: { taskId: id } }));
        expect(told.body.error).toMatchObject({ message: expect.stringMatching(GONE) });
        expect(told.status).toBeLessThan(500);
      }
      const unknown = await rpc(base, 'SendMessage', sendParams('a new one'));
      expect(unknown.body.error?.code).toBe(-32_001);
      if (isRun) {
        const run = await api.call<JsonObject>('GET', `/runs/${id}`);
        expect([run.status, run.body]).toEqual([
          200,
          expect.objectContaining({
            workflow: name,
            error: expect.objectContaining({ message: expect.stringMatching(GONE) }),
          }),
        ]);
        const asked = await api.call('POST', `/runs/${id}/answers`, { node: 'q', parts: [{ text: 'yes' }] });
        expect([asked.status, asked.text]).toEqual([409, expect.stringMatching(GONE)]);
        expect((await api.call('GET', `/runs/${id}/instances`)).status).toBe(200);
        expect((await api.call('GET', `/runs/${id}/workflow`)).status).toBe(410);
        expect((await api.call('GET', '/runs?pageSize=100')).text).toContain(id);
        expect((await api.call('GET', '/inbox')).status).toBe(200);
      }
      const canceled = await rpc<Task>(base, 'CancelTask', { id });
      expect(canceled.body.result?.status).toMatchObject({
        state: 'TASK_STATE_CANCELED',
        message: { parts: [{ text: expect.stringMatching(GONE) }] },
      });
      if (isRun) expect((await api.call('POST', `/runs/${id}/cancel`)).status).toBe(200);
      await until(async () => (await openChildrenOf(id)) === 0, { what: 'its children to be ended' });
      expect((await api.call('GET', '/inbox')).text).not.toContain(id);
    },
  );

  it('a run that was at work when its replica died ends with a sentence, and so does all that it called for', async () => {
    await until(async () => (await rowOf(working.runId)).state === 'TASK_STATE_FAILED', { what: 'the run to end' });
    const { status } = await getTask(`${replica.url}/a2a`, working.runId);
    expect(status.message?.parts).toMatchObject([{ text: expect.stringMatching(GONE) }]);
    await until(async () => (await openChildrenOf(working.runId)) === 0, { what: 'its children to be ended' });
    expect(working.children.length).toBeGreaterThan(0);
    const run = await api.call('POST', `/runs/${working.runId}/rerun`, {});
    expect([run.status, run.text]).toEqual([409, expect.stringMatching(GONE)]);
  });

  it('an agent that never was is unknown, as before', async () => {
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask', 'ListTasks']) {
      const { body } = await rpc(
        `${replica.url}/a2a/workflows/never`,
        method,
        method === 'ListTasks' ? {} : { id: 'x' },
      );
      expect([method, body.error?.code, body.error?.message]).toEqual([method, -32_001, 'workflow "never" not found']);
    }
  });
});

interface Row {
  state: string;
  replica_id: string | null;
}

async function rowOf(taskId: string): Promise<Row> {
  const [row] = await stage.database.query<Row>('SELECT state, replica_id FROM task WHERE task_id = $1', [taskId]);
  return row ?? { state: '', replica_id: null };
}

async function childrenOf(runId: string): Promise<string[]> {
  const rows = await stage.database.query<{ task_id: string }>(
    'SELECT task_id FROM task WHERE parent_task_id = $1 UNION SELECT task_id FROM run_child WHERE run_id = $1',
    [runId],
  );
  return rows.map(({ task_id: id }) => id);
}

async function openChildrenOf(runId: string): Promise<number> {
  const [row] = await stage.database.query<{ count: number }>(
    `SELECT count(*)::int FROM task WHERE parent_task_id = $1
     AND state NOT IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`,
    [runId],
  );
  return row?.count ?? 0;
}
