import type { AgentCard, JsonObject, Task } from '#libs/protocol';
import { getTask, rest, rpc, sendParams, sendTask, type SendOptions } from '../support/a2a.js';
import { bindingsOf } from '../support/bindings.js';
import { ANN, EVE, KNOWS_CALLERS } from '../support/callers.js';
import { DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import type { FakeBehaviour } from '../support/fake-behaviour.js';
import { startParley } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, linear, unique } from '../support/workflow.js';

const stage = useStage(KNOWS_CALLERS);
const { headers } = ANN;

async function behind(policy: JsonObject): Promise<{ agent: DoorAgent; base: string; name: string }> {
  const agent = await DoorAgent.start();
  stage.defer(() => agent.end());
  return { agent, ...(await openDoor(stage.parley.url, agent.url, { policy }, headers)) };
}

/** Sends a Message that is refused. @returns the error, and the Tasks that its sender has at the agent */
async function refused(base: string, text: string, options: SendOptions) {
  const { headers: sender } = options;
  const { body } = await rpc(base, 'SendMessage', sendParams(text, options), { headers: sender });
  const listed = await rpc<{ totalSize: number }>(base, 'ListTasks', {}, { headers: sender });
  return { error: body.error, tasks: listed.body.result?.totalSize };
}

async function keyWith(scopes: string[]): Promise<Record<string, string>> {
  const ann = new Api(stage.parley.url, headers);
  const { body } = await ann.call<{ key: string }>('POST', '/keys', { name: unique('key'), scopes });
  return { authorization: `Bearer ${body.key}` };
}

describe('a Message that the policy refuses does not reach the agent, and is not stored', () => {
  it('from a caller that it does not name', async () => {
    const { agent, base } = await behind({ callers: ['ann'] });
    const { error, tasks } = await refused(base, 'let me in', { headers: EVE.headers });
    expect([error?.code, error?.data?.[0]?.reason, tasks]).toEqual([-31403, 'POLICY_DENIED', 0]);
    expect(agent.heard).toEqual([]);
    await sendTask(base, 'me', { headers });
    expect(agent.heard).toHaveLength(1);
  });

  it('from a caller without a scope that it names', async () => {
    const { agent, base } = await behind({ scopes: ['workflows', 'admin'] });
    const { error, tasks } = await refused(base, 'let me in', { headers: await keyWith(['agents']) });
    expect([error?.data?.[0]?.reason, error?.message, tasks]).toEqual([
      'POLICY_DENIED',
      expect.stringContaining('workflows or admin'),
      0,
    ]);
    expect(agent.heard).toEqual([]);
    await sendTask(base, 'me', { headers });
    expect(agent.heard).toHaveLength(1);
  });

  it('from a workflow, where it requires a scope', async () => {
    const { agent, name } = await behind({ scopes: ['agents'] });
    const ann = new Api(stage.parley.url, headers);
    const target = unique('scoped');
    await ann.save(linear(target, { id: 'in', type: 'input', config: {} }));
    const talk = await ann.call<{ conversationId: string }>('POST', '/conversations', {
      requester: target,
      target: `agents/${name}`,
      message: 'hi',
    });
    expect(talk.status).toBeLessThan(300);
    await until(
      async () => {
        const { text } = await ann.call('GET', `/conversations/${talk.body.conversationId}`);
        return text.includes('does not take the message');
      },
      { what: 'the conversation to say that the agent refused' },
    );
    expect(agent.heard).toEqual([]);
  });

  it.each<[string, SendOptions]>([
    ['that names another skill', { fields: { metadata: { skillId: 'delete' } } }],
    ['that names no skill', {}],
  ])('%s', async (_what, options) => {
    const { agent, base } = await behind({ skills: ['echo'] });
    const { error, tasks } = await refused(base, 'hello', { ...options, headers });
    expect([error?.data?.[0]?.reason, tasks]).toEqual(['POLICY_DENIED', 0]);
    expect(agent.heard).toEqual([]);
    await sendTask(base, 'hello', { headers, fields: { metadata: { skillId: 'echo' } } });
    expect(agent.heard).toHaveLength(1);
  });

  it('that is too large', async () => {
    const { agent, base } = await behind({ maxBytes: 1_000 });
    const { error, tasks } = await refused(base, 'x'.repeat(1_001), { headers });
    expect([error?.data?.[0]?.reason, tasks]).toEqual(['MESSAGE_TOO_LARGE', 0]);
    expect(agent.heard).toEqual([]);
  });
});

it('offers only the operations of the policy', async () => {
  const { base } = await behind({ methods: ['SendMessage', 'GetTask'] });
  const { id } = await sendTask(base, 'hello', { headers });
  for (const [method, params] of [
    ['CancelTask', { id }],
    ['ListTasks', {}],
    ['SendStreamingMessage', sendParams('hello')],
    ['SubscribeToTask', { id }],
    ['CreateTaskPushNotificationConfig', { taskId: id, url: 'https://hooks.example.com' }],
  ] as const) {
    const { body } = await rpc(base, method, params, { headers });
    expect([method, body.error?.code]).toEqual([method, method.startsWith('Create') ? -32003 : -32004]);
  }
  expect((await rpc(base, 'GetTask', { id }, { headers })).body.error).toBeUndefined();
});

describe('the limits of an agent hold over all replicas', () => {
  async function begin(base: string, text: string): Promise<string> {
    return (await sendTask(base, text, { headers, configuration: { returnImmediately: true } })).id;
  }

  async function ended(base: string, id: string): Promise<Task> {
    return until(
      async () => {
        const { body } = await rpc<Task>(base, 'GetTask', { id }, { headers });
        return body.result && /COMPLETED|FAILED/.test(body.result.status.state) ? body.result : undefined;
      },
      { what: 'a task to end' },
    );
  }

  it('in turns at the same time', async () => {
    const other = await startParley({ databaseUrl: stage.database.url, env: KNOWS_CALLERS.env });
    stage.defer(() => other.stop());
    const { agent, base, name } = await behind({ concurrency: 2 });
    const there = `${other.url}/a2a/agents/${name}`;
    const ids = await Promise.all([base, there, base, there, base].map((at) => begin(at, 'hold')));
    let most = 0;
    for (let done = 0; done < ids.length;) {
      await agent.untilHolding();
      most = Math.max(most, agent.holding.length);
      done += agent.holding.length;
      agent.release();
    }
    const tasks = await Promise.all(ids.map((id) => ended(base, id)));
    expect(tasks.map(({ status }) => status.state)).toEqual(ids.map(() => 'TASK_STATE_COMPLETED'));
    expect(agent.heard).toHaveLength(ids.length);
    expect(most).toBeLessThanOrEqual(2);
  });

  it('and a turn that waits too long fails unheard', async () => {
    const { agent, base } = await behind({ concurrency: 1, wait: 0 });
    const first = await begin(base, 'hold');
    await agent.untilHolding();
    const { status } = await sendTask(base, 'me too', { headers });
    expect([status.state, status.message?.parts[0]?.text]).toEqual([
      'TASK_STATE_FAILED',
      expect.stringContaining('busy') as string,
    ]);
    agent.release();
    await ended(base, first);
    expect(agent.heard).toHaveLength(1);
  });

  it('in Messages a minute', async () => {
    const { agent, base } = await behind({ perMinute: 1, wait: 0 });
    await sendTask(base, 'one', { headers });
    const second = await sendTask(base, 'two', { headers });
    expect(second.status.state).toBe('TASK_STATE_FAILED');
    expect(agent.heard.map(({ parts }) => parts[0]?.text)).toEqual(['one']);
  });

  it('by the pause that the agent asks for: until then no Message is sent to an agent with a limited rate', async () => {
    const agent = (await stage.fake()).next(busyFor(3_600));
    const { base } = await openDoor(stage.parley.url, agent.url, { policy: { perMinute: 600 } }, headers);
    const first = await sendTask(base, 'one', { headers });
    expect([first.status.state, agent.sends.length]).toEqual(['TASK_STATE_FAILED', 1]);
    const second = await sendTask(base, 'two', { headers });
    expect([second.status.state, second.status.message?.parts[0]?.text]).toEqual([
      'TASK_STATE_FAILED',
      expect.stringContaining('busy'),
    ]);
    expect(agent.texts).toEqual(['one']);
  });

  it('by the pause of one Message, if the rate is not limited', async () => {
    const agent = (await stage.fake()).next(busyFor(3_600), busyFor(1));
    const { base } = await openDoor(stage.parley.url, agent.url, {}, headers);
    const states = [];
    for (const text of ['one', 'two']) states.push((await sendTask(base, text, { headers })).status.state);
    expect(states).toEqual(['TASK_STATE_FAILED', 'TASK_STATE_COMPLETED']);
    expect(agent.texts).toEqual(['one', 'two', 'two']);
  });
});

/** Creates an answer that refuses a Message, and asks for a pause of so many seconds. */
const busyFor = (seconds: number): FakeBehaviour => ({
  httpStatus: 429,
  headers: { 'retry-after': String(seconds) },
});

it('passes on the headers that the policy names, and no credentials', async () => {
  const { agent, base } = await behind({ headers: ['x-request-id'] });
  await sendTask(base, 'hello', { headers: { ...headers, 'x-request-id': 'r1', 'x-other': 'no' } });
  const sent = agent.requests.filter((it) => it['content-type'] !== undefined);
  expect(sent.map((it) => [it['x-request-id'], it['x-other'], it.authorization])).toEqual([
    ['r1', undefined, undefined],
  ]);
});

const endpoints = { url: '', grpc: '' };

describe.each(bindingsOf(() => endpoints))("an answer at the service's base URL, over $name", (wire) => {
  beforeAll(async () => {
    const cards = await fetch(`${stage.parley.url}/a2a/.well-known/agent-card.json`, { headers });
    const { supportedInterfaces } = (await cards.json()) as AgentCard;
    endpoints.url = stage.parley.url;
    endpoints.grpc = supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')?.url ?? '';
  });

  it('is taken from a caller with a scope of the policy, and its headers are passed on', async () => {
    const { agent, base } = await behind({ scopes: ['agents'], headers: ['x-request-id'] });
    const { id: taskId } = await sendTask(base, 'ask', { headers });
    agent.requests.length = 0;
    const answer = sendParams('blue', { fields: { taskId } });
    const { result, error } = await wire.call<{ task: Task }>('', 'SendMessage', answer, { ...headers, ...REQUEST });
    expect([error, result?.task.id, result?.task.status.state]).toEqual([undefined, taskId, 'TASK_STATE_COMPLETED']);
    expect(agent.requests.map((it) => it['x-request-id'])).toContain('r1');
  });

  it('is refused from a caller without one', async () => {
    const { agent, base, name } = await behind({ scopes: ['agents'] });
    const sender = await keyWith(['agents']);
    const { id: taskId } = await sendTask(base, 'ask', { headers: sender });
    const body = { url: agent.url, policy: { scopes: ['admin'] } };
    const changed = await rest(`${stage.parley.url}/api`, 'PUT', `/agents/${name}`, { body, headers });
    const { error } = await wire.call('', 'SendMessage', sendParams('blue', { fields: { taskId } }), sender);
    expect([changed.status, error?.reason, agent.heard.length]).toEqual([200, 'POLICY_DENIED', 1]);
  });
});

const REQUEST = { 'x-request-id': 'r1' };

it.each<[string, JsonObject]>([
  ['policy.headers', { headers: ['authorization'] }],
  ['policy.scopes', { scopes: ['root'] }],
  ['policy.methods', { methods: ['Everything'] }],
  ['policy.concurrency', { concurrency: 0 }],
  ['policy.perMinute', { perMinute: 1.5 }],
])('refuses a policy with a wrong %s', async (path, policy) => {
  const ann = new Api(stage.parley.url, headers);
  const reply = await ann.call<{ errors: { path: string }[] }>('POST', '/agents', {
    name: unique('wrong'),
    url: 'http://127.0.0.1:9',
    policy,
  });
  expect([reply.status, reply.body.errors[0]?.path.replace('[0]', '')]).toEqual([400, path]);
});

it('reads no Task of another caller', async () => {
  const { base } = await behind({});
  const { id } = await sendTask(base, 'hello', { headers });
  await expect(getTask(base, id)).rejects.toThrow('401');
  const { body } = await rpc(base, 'GetTask', { id }, { headers: EVE.headers });
  expect(body.error?.code).toBe(-32001);
});
