import { SendMessageRequest, Task } from '@a2a-js/sdk';
import { type Client, ClientFactory } from '@a2a-js/sdk/client';
import type { AgentCard, JsonObject, Part, Task as WireTask } from '#libs/protocol';
import { detail, firstText, getTask, message, rpc, sendParams, sendTask } from '../support/a2a.js';
import { startParley } from '../support/parley.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import {
  Api,
  input,
  linear,
  output,
  type Run,
  textOf,
  unique,
  type Workflow,
  type WorkflowNode,
} from '../support/workflow.js';

const stage = useSharedStage();
const FORM = 'urn:parley:extension:form:v1';

const node = (id: string, type: string, config: JsonObject): WorkflowNode => ({ id, type, config });
const runs = (id: string, workflow: string, config: JsonObject = {}): WorkflowNode =>
  node(id, 'workflow', { workflow, ...config });
/** `${…}` is an expression in it. */
const inLanguage2 = (workflow: Workflow): Workflow => ({ ...workflow, ...{ language: 2 } });

const DECISION = {
  type: 'object',
  properties: { decision: { enum: ['yes', 'no'] } },
  required: ['decision'],
};
const decides = (decision: string): Part[] => [{ data: { decision } }];

function formOf(task: WireTask): JsonObject | undefined {
  return task.status.message?.metadata?.[FORM] as JsonObject | undefined;
}

function continuing(task: WireTask): { fields: { taskId: string; contextId: string } } {
  return { fields: { taskId: task.id, contextId: task.contextId } };
}

async function cardAt(base: string): Promise<AgentCard> {
  return (await fetch(`${base}/.well-known/agent-card.json`, { headers: { 'a2a-version': '1.0' } })).json() as never;
}

const TEXT_AND_DATA = ['text/plain', 'application/json'];

describe('set, wait, human and workflow nodes as agents of their own', () => {
  let name: string;
  const base = (id: string): string => stage.api.base(name, id);

  beforeAll(async () => {
    name = unique('alone');
    const child = linear(`${name}_child`, input('who'), output('hello', { prompt: 'Hello, {{who}}!' }));
    await stage.api.save(child);
    await stage.api.save(
      inLanguage2({
        name,
        nodes: [
          input('n'),
          input('at'),
          node('values', 'set', { values: { text: '{{text}}', doubled: '${inputs.n * 2.0}' } }),
          node('pause', 'wait', { until: 'timestamp(inputs.at)' }),
          node('gate', 'human', { prompt: 'Publish?', form: DECISION, assignee: 'editors' }),
          node('free', 'human', { prompt: 'What else?' }),
          runs('greet', child.name),
        ],
        edges: [],
      }),
    );
  });

  it('set answers with its values, its texts filled in from the Message', async () => {
    const task = await sendTask(base('values'), [{ text: 'so' }, { data: { n: 4 } }]);
    expect(task.artifacts).toMatchObject([{ name: 'values', parts: [{ data: { text: 'so', doubled: 8 } }] }]);
    const failed = await sendTask(base('values'), 'no data');
    expect(failed.status.state).toBe('TASK_STATE_FAILED');
    expect(failed.status.message?.parts[0]?.text).toBe('Error: doubled: this has no value here');
  });

  it('wait lets time pass, and says what it was told', async () => {
    const at = new Date(Date.now() + 300);
    const task = await sendTask(base('pause'), [{ text: 'go on' }, { data: { at: at.toISOString() } }]);
    expect(Date.now()).toBeGreaterThanOrEqual(at.getTime());
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'go on' }, {}] }],
    });
    expect((await sendTask(base('pause'), [{ data: { at: '2020-01-01T00:00:00Z' } }])).status.state).toBe(
      'TASK_STATE_COMPLETED',
    );
    const far = await sendTask(base('pause'), [
      { data: { at: new Date(Date.now() + 400 * 86_400_000).toISOString() } },
    ]);
    expect(far.status.message?.parts[0]?.text).toBe('Error: the wait must not be longer than a year');
  });

  it('wait goes on after kill -9 of the replica, until the time that it had noted', async () => {
    const other = await startParley({ databaseUrl: stage.database.url });
    stage.defer(() => other.kill9().catch(() => undefined));
    // Long enough for a slow machine to note the wait and kill the replica before.
    const at = new Date(Date.now() + 20_000).toISOString();
    const task = await sendTask(new Api(other.url).base(name, 'pause'), [{ text: 'later' }, { data: { at } }], {
      configuration: { returnImmediately: true },
    });
    await until(async () => JSON.stringify(await logOf(task.id)).includes('node.waiting'), { what: 'the wait' });
    await other.kill9();
    const isOver = async () => {
      const found = await getTask(base('pause'), task.id);
      return found.status.state === 'TASK_STATE_COMPLETED' && found;
    };
    const ended = await until(isOver, { what: 'the end of the wait' });
    expect(firstText(ended)).toBe('later');
    expect(Date.parse(ended.status.timestamp ?? '')).toBeGreaterThanOrEqual(Date.parse(at));
    const noted = (await logOf(task.id)).flatMap((event) => /"until":"([^"]+)"/.exec(JSON.stringify(event))?.[1] ?? []);
    expect(noted).toEqual([at]);
  });

  it('wait holds no replica where it takes long, and is canceled all the same', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const task = await sendTask(base('pause'), [{ data: { at } }], { configuration: { returnImmediately: true } });
    // The database's clock may be a little ahead, or behind.
    const query = `SELECT replica_id, state, abs(extract(epoch FROM wake_at - $2::timestamptz)) < 60 AS then FROM task WHERE task_id = $1`;
    const row = async () => (await stage.database.query(query, [task.id, at]))[0];
    await until(async () => (await row())?.['replica_id'] === null, { what: 'the claim to be given up' });
    expect(await row()).toEqual({ replica_id: null, state: 'TASK_STATE_WORKING', then: true });
    const canceled = await rpc<WireTask>(base('pause'), 'CancelTask', { id: task.id });
    expect(canceled.body.result?.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('human asks with its form, again where the answer does not fit, and answers with one that does', async () => {
    const asked = await sendTask(base('gate'), 'Publish this?');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(asked.status.message).toMatchObject({ parts: [{ text: 'Publish this?' }], extensions: [FORM] });
    expect(formOf(asked)).toEqual({ form: DECISION, assignee: 'editors' });
    const again = await sendTask(base('gate'), decides('maybe'), continuing(asked));
    expect(again.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(formOf(again)).toMatchObject({ form: DECISION, violations: [{ field: 'answer.decision' }] });
    const done = await sendTask(base('gate'), decides('yes'), continuing(asked));
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(done.artifacts).toMatchObject([{ artifactId: 'gate', parts: decides('yes') }]);
    const free = await sendTask(base('free'), 'What else?');
    expect(firstText(await sendTask(base('free'), 'nothing', continuing(free)))).toBe('nothing');
  });

  it('a Task of a workflow node is a run of that workflow, and is found as one', async () => {
    const task = await sendTask(base('greet'), 'Ada');
    expect(firstText(task)).toBe('Hello, Ada!');
    const run = await stage.api.run(task.id);
    expect(run).toMatchObject({ workflow: `${name}_child`, status: 'completed', inputs: { who: 'Ada' } });
    const frames = await (await stage.api.events(task.id)).all();
    expect(frames.at(-1)).toMatchObject({ event: 'done', data: { workflow: `${name}_child`, status: 'completed' } });
    const listed = await stage.api.call<{ runs: Run[] }>('GET', `/runs?workflow=${name}_child`);
    expect(listed.body.runs.map(({ runId }) => runId)).not.toContain(task.id);
  });

  it('a workflow node refuses inputs that its workflow does not take, before anything is written', async () => {
    const reply = await rpc(base('greet'), 'SendMessage', sendParams([{ data: { whom: 'Ada' } }]));
    expect(reply.body.error).toMatchObject({ code: -32_602 });
    expect(detail(reply.body.error?.data, 'ErrorInfo')).toMatchObject({ reason: 'MISSING_INPUT' });
    expect(detail(reply.body.error?.data, 'BadRequest')).toMatchObject({
      fieldViolations: [{ field: 'inputs.who' }, { field: 'inputs.whom' }],
    });
    const tasks = await stage.database.query('SELECT FROM task WHERE agent = $1 AND state = $2', [
      `workflows/${name}/nodes/greet`,
      'TASK_STATE_FAILED',
    ]);
    expect(tasks).toEqual([]);
  });

  it.each([
    ['values', ['application/json'], 'Answers with values'],
    ['pause', TEXT_AND_DATA, 'Waits'],
    ['gate', ['application/json'], 'Asks a person'],
    ['free', TEXT_AND_DATA, 'Asks a person'],
    ['greet', TEXT_AND_DATA, 'Runs a workflow'],
  ])('the card of %s says what goes in, what comes out and what it does', async (id, outputModes, does) => {
    const card = await cardAt(base(id));
    expect(card).toMatchObject({
      // A workflow takes what its first nodes take.
      defaultInputModes: id === 'greet' ? [...TEXT_AND_DATA, '*/*'] : TEXT_AND_DATA,
      defaultOutputModes: outputModes,
      skills: [{ id, description: expect.stringContaining(does) }],
    });
    const extensions = card.capabilities.extensions?.map(({ uri }) => uri) ?? [];
    expect(extensions.includes(FORM)).toBe(id === 'gate' || id === 'free');
    expect(JSON.stringify(card)).not.toContain('Publish?');
  });

  describe("with the official SDK's client", () => {
    const clientAt = (id: string): Promise<Client> =>
      new ClientFactory().createFromUrl(`${base(id)}/`, '.well-known/agent-card.json');
    const request = (parts: Part[], fields: JsonObject = {}): SendMessageRequest =>
      SendMessageRequest.fromJSON({ message: { ...message(parts), ...fields } });
    const sent = async (id: string, parts: Part[], fields: JsonObject = {}): Promise<WireTask> =>
      Task.toJSON((await (await clientAt(id)).sendMessage(request(parts, fields))) as Task) as WireTask;

    it('each of them answers', async () => {
      expect((await sent('values', [{ text: 'a' }, { data: { n: 1 } }])).artifacts?.[0]?.parts[0]?.data).toEqual({
        text: 'a',
        doubled: 2,
      });
      const past = [{ text: 'b' }, { data: { at: '2020-01-01T00:00:00Z' } }];
      expect(firstText(await sent('pause', past))).toBe('b');
      expect(firstText(await sent('greet', [{ data: { who: 'Eve' } }]))).toBe('Hello, Eve!');
    });

    it('human asks and is answered', async () => {
      const asked = await sent('gate', [{ text: 'Well?' }]);
      expect(formOf(asked)).toMatchObject({ form: DECISION });
      const { id: taskId, contextId } = asked;
      const done = await sent('gate', decides('no'), { taskId, contextId });
      expect(done.artifacts?.[0]?.parts[0]?.data).toEqual({ decision: 'no' });
    });
  });
});

describe('set, wait, human and workflow nodes in a run', () => {
  it('work with each other', async () => {
    const name = unique('flow');
    await stage.api.save(linear(`${name}_child`, input('who'), output('hello', { prompt: 'Hello, {{who}}!' })));
    await stage.api.save(
      inLanguage2(
        linear(
          name,
          input('given'),
          node('values', 'set', { values: { name: '${nodes.given.text.upperAscii()}' } }),
          node('pause', 'wait', { for: '10ms' }),
          runs('greet', `${name}_child`, { inputs: { who: '${nodes.values.data.name}' } }),
          node('gate', 'human', { prompt: 'Say "{{greet}}"?', form: DECISION }),
          output('out', { prompt: '{{greet}} ${nodes.gate.data.decision}' }),
        ),
      ),
    );
    const runId = await stage.api.start(name, { given: 'ada' });
    const waiting = await stage.api.reached(runId, ['input-required', 'failed']);
    expect(waiting.error).toBeUndefined();
    const asked = await getTask(stage.api.base(name), runId);
    expect(asked.status.message?.parts[0]?.text).toBe('Say "Hello, ADA!"?');
    await sendTask(stage.api.base(name), decides('maybe'), continuing(asked));
    expect(await stage.api.run(runId)).toMatchObject({ status: 'input-required' });
    await sendTask(stage.api.base(name), decides('yes'), continuing(asked));
    const run = await stage.api.ended(runId);
    expect([run.status, textOf(run.result)]).toEqual(['completed', 'Hello, ADA! yes']);
    expect(run.nodes['greet']?.artifacts).toMatchObject([{ artifactId: 'hello', parts: [{ text: 'Hello, ADA!' }] }]);
  });
});

async function logOf(taskId: string): Promise<unknown[]> {
  const rows = await stage.database.query<{ payload: unknown }>(
    'SELECT payload FROM task_event WHERE task_id = $1 ORDER BY sequence',
    [taskId],
  );
  return rows.map(({ payload }) => payload);
}
