import type { JsonObject, Task } from '#libs/protocol';
import { firstText, rpc, sendParams, sendTask } from '../support/a2a.js';
import { DoorAgent, type DoorAgentOptions } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { useTenants } from '../support/tenant-stage.js';
import { until } from '../support/until.js';
import { type Api, linear, textOf, unique, type WorkflowNode } from '../support/workflow.js';

const { stage, caller } = useTenants();
let ann: Api;
let headers: Record<string, string>;
beforeAll(async () => {
  ann = await caller('ann', 'acme');
  headers = ann.headers;
});
const PNG = { raw: Buffer.alloc(3_000, 7).toString('base64'), mediaType: 'image/png', filename: 'chart.png' };
const EVERYTHING = { card: { defaultInputModes: ['text/plain', 'application/json', 'image/*'] } };

const registered = (agent: string, config: JsonObject = {}): WorkflowNode => ({
  id: 'ext',
  type: 'external',
  config: { agent, ...config },
});

async function register(
  fields: JsonObject = {},
  options: DoorAgentOptions = {},
): Promise<{ agent: DoorAgent; name: string; base: string }> {
  const agent = await DoorAgent.start(options);
  stage.defer(() => agent.end());
  return { agent, ...(await openDoor(stage.parley.url, agent.url, fields, headers)) };
}

function saidBy({ status }: Task): string | undefined {
  return status.message?.parts[0]?.text;
}

/** Tasks of a registered agent that its owner sees there. */
async function listTasks(base: string): Promise<Task[]> {
  const listed = await rpc<{ tasks: Task[] }>(base, 'ListTasks', {}, { headers });
  return listed.body.result?.tasks ?? [];
}

describe('an external node that names a registered agent', () => {
  it('calls it with its credential, and the Task of the agent is a child of the run', async () => {
    const { agent, base, name } = await register({}, EVERYTHING);
    const { name: workflow } = await ann.save(linear(unique('front'), registered(name)));
    const run = await sendTask(ann.base(workflow), [{ text: 'hello' }, { data: { n: 1 } }, PNG], { headers });
    expect(run.status.state).toBe('TASK_STATE_COMPLETED');
    expect(agent.heard[0]?.parts).toMatchObject([{ text: 'hello' }, { data: { n: 1 } }, PNG]);
    const [child] = await listTasks(base);
    const { nodes } = await ann.run(run.id);
    expect(nodes.ext).toMatchObject({ taskId: child?.id, agentUrl: expect.stringContaining(`/a2a/agents/${name}`) });
    expect(child?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('keeps one context at the agent for a context here, and for each node', async () => {
    const { agent, name } = await register();
    const nodes = [registered(name), { ...registered(name), id: 'second' }];
    const { name: workflow } = await ann.save(linear(unique('contexts'), ...nodes));
    const first = await sendTask(ann.base(workflow), 'one', { headers });
    await sendTask(ann.base(workflow), 'two', { headers, fields: { contextId: first.contextId } });
    const contexts = agent.heard.map(({ contextId }) => contextId);
    expect(contexts).toHaveLength(4);
    expect([contexts[2], contexts[3]]).toEqual([contexts[0], contexts[1]]);
    expect(new Set(contexts).size).toBe(2);
  });

  it('passes on a question of the agent, and the answer', async () => {
    const { agent, name } = await register();
    const { name: workflow } = await ann.save(linear(unique('asks'), registered(name)));
    const asked = await sendTask(ann.base(workflow), 'ask', { headers });
    expect([asked.status.state, saidBy(asked)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'which?']);
    const answered = await sendTask(ann.base(workflow), 'this one', { headers, fields: { taskId: asked.id } });
    expect([answered.status.state, firstText(answered)]).toEqual(['TASK_STATE_COMPLETED', 'this one']);
    expect(agent.heard[1]?.taskId).toBe(agent.heard[0]?.taskId);
  });

  it('notices that a question was answered at the agent', async () => {
    const { base, name } = await register();
    const { name: workflow } = await ann.save(linear(unique('besides'), registered(name)));
    const asked = await sendTask(ann.base(workflow), 'ask', { headers });
    const [child] = await listTasks(base);
    await sendTask(base, 'told there', { headers, fields: { taskId: child?.id ?? '' } });
    const run = await ann.ended(asked.id);
    expect([run.status, textOf(run.artifacts.ext)]).toEqual(['completed', 'told there']);
  });

  it('cancels the Task of the agent with the run', async () => {
    const { agent, base, name } = await register();
    const { name: workflow } = await ann.save(linear(unique('cancels'), registered(name)));
    const { body } = await rpc<{ task: { id: string } }>(
      ann.base(workflow),
      'SendMessage',
      { ...sendParams('hold'), configuration: { returnImmediately: true } },
      { headers },
    );
    await agent.untilHolding();
    await rpc(ann.base(workflow), 'CancelTask', { id: body.result?.task.id ?? '' }, { headers });
    await until(() => agent.holding.length === 0, { what: 'the agent to get the cancel' });
    await until(async () => (await listTasks(base))[0]?.status.state === 'TASK_STATE_CANCELED', {
      what: 'the task of the agent to be canceled',
    });
  });

  it('heeds the policy of the agent: a skill that the node names is allowed, and no other call', async () => {
    const { agent, name } = await register({ policy: { skills: ['echo'] } });
    const { name: plain } = await ann.save(linear(unique('plain'), registered(name)));
    const refused = await ann.finish({ ...linear(unique('plain'), registered(name)) });
    expect([refused.status, JSON.stringify(refused.error)]).toEqual([
      'failed',
      expect.stringContaining(
        `external agent call to agents/${name}: a2a error -31403: This agent does not take the message`,
      ),
    ]);
    expect(agent.heard).toEqual([]);
    const direct = await sendTask(ann.base(plain, 'ext'), 'hello', { headers });
    expect(direct.status.state).toBe('TASK_STATE_FAILED');
    const { name: skilled } = await ann.save(linear(unique('skilled'), registered(name, { skill: 'echo' })));
    expect((await sendTask(ann.base(skilled), 'hello', { headers })).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await sendTask(ann.base(skilled, 'ext'), 'hello', { headers })).status.state).toBe('TASK_STATE_COMPLETED');
    expect(agent.heard.map(({ metadata }) => metadata?.skillId)).toEqual(['echo', 'echo']);
  });

  it('does the same when it is called by itself', async () => {
    const { agent, base, name } = await register({}, EVERYTHING);
    const { name: workflow } = await ann.save(linear(unique('alone'), registered(name)));
    const node = ann.base(workflow, 'ext');
    const done = await sendTask(node, [{ text: 'hello' }, PNG], { headers });
    expect(done.artifacts?.[0]?.parts).toMatchObject([{ text: 'hello' }, PNG]);
    const asked = await sendTask(node, 'ask', { headers, fields: { contextId: done.contextId } });
    expect([asked.status.state, saidBy(asked)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'which?']);
    const answered = await sendTask(node, 'this one', { headers, fields: { taskId: asked.id } });
    expect([answered.status.state, firstText(answered)]).toEqual(['TASK_STATE_COMPLETED', 'this one']);
    expect(new Set(agent.heard.map(({ contextId }) => contextId)).size).toBe(1);
    expect(await listTasks(base)).toHaveLength(2);
    const { body } = await rpc<{ task: { id: string } }>(
      node,
      'SendMessage',
      { ...sendParams('hold'), configuration: { returnImmediately: true } },
      { headers },
    );
    await agent.untilHolding();
    await rpc(node, 'CancelTask', { id: body.result?.task.id ?? '' }, { headers });
    await until(() => agent.holding.length === 0, { what: 'the agent to get the cancel' });
  });

  it('has the input modes of the agent on its card and on that of the workflow', async () => {
    const { name } = await register({}, { card: { defaultInputModes: ['text/plain', 'image/png'] } });
    const { name: workflow } = await ann.save(linear(unique('card'), registered(name)));
    for (const base of [ann.base(workflow), ann.base(workflow, 'ext')]) {
      const card = await fetch(`${base}/.well-known/agent-card.json`, { headers });
      const { defaultInputModes } = (await card.json()) as { defaultInputModes: string[] };
      expect(defaultInputModes).toEqual(expect.arrayContaining(['text/plain', 'image/png']));
      expect(defaultInputModes).not.toContain('*/*');
    }
  });

  it('describes to the agent what the agent does not take', async () => {
    const { agent, name } = await register({}, { card: { defaultInputModes: ['text/plain'] } });
    const { name: workflow } = await ann.save(linear(unique('plain'), registered(name)));
    await sendTask(ann.base(workflow), [{ text: 'look' }, PNG], { headers });
    const line = '[file chart.png, image/png, 3000 bytes]';
    expect(agent.heard[0]?.parts.map(({ text }) => text)).toEqual(['look', line]);
  });
});

describe('a registered agent that is missing', () => {
  it('is a warning when a workflow that names it is saved, and fails the node', async () => {
    const body = linear(unique('missing'), registered('nosuch'));
    const checked = await ann.call<{ problems: JsonObject[] }>('POST', '/workflows/check', body);
    const warning = {
      severity: 'warning',
      code: 'UNKNOWN_REGISTERED_AGENT',
      path: 'nodes[0].config.agent',
      detail: 'external node "ext": there is no registered agent "nosuch"',
    };
    expect(checked.body).toMatchObject({ problems: [warning] });
    const saved = await ann.call<{ problems: JsonObject[] }>('POST', '/workflows', body);
    expect([saved.status, saved.body.problems]).toMatchObject([201, [warning]]);
    const run = await sendTask(ann.base(body.name), 'hello', { headers });
    expect([run.status.state, saidBy(run)]).toEqual([
      'TASK_STATE_FAILED',
      expect.stringMatching(/external agent call to agents\/nosuch: .*agent "nosuch" not found/),
    ]);
    const direct = await sendTask(ann.base(body.name, 'ext'), 'hello', { headers });
    expect(saidBy(direct)).toContain('external agent call to agents/nosuch: agent "nosuch" not found');
  });

  it('is one that only another tenant has, or that was deleted', async () => {
    const { agent, name } = await register();
    const eve = await caller('eve', 'other');
    const { name: hers } = await eve.save(linear(unique('hers'), registered(name)));
    const stranger = await sendTask(eve.base(hers), 'hello', { headers: eve.headers });
    expect(saidBy(stranger)).toContain(`agent "${name}" not found`);
    const { name: workflow } = await ann.save(linear(unique('deleted'), registered(name)));
    expect((await ann.call('DELETE', `/agents/${name}`)).status).toBe(204);
    expect(saidBy(await sendTask(ann.base(workflow), 'hello', { headers }))).toContain(`agent "${name}" not found`);
    expect(agent.heard).toEqual([]);
  });
});

describe('the config of an external node', () => {
  it.each<[string, JsonObject, string]>([
    ['both', { endpoint_url: 'http://a.test', agent: 'x' }, 'must have exactly one of endpoint_url and agent'],
    ['no name', { agent: '../x' }, 'agent must be the name of a registered agent'],
    ['a credential', { agent: 'x', auth: 'key' }, 'auth is for an agent that is named by its endpoint_url'],
    ['a skill for a URL', { endpoint_url: 'http://a.test', skill: 'x' }, 'skill is for a registered agent'],
  ])('is refused with %s', async (_what, config, text) => {
    const node = { id: 'ext', type: 'external', config };
    const reply = await ann.call('POST', '/workflows', linear(unique('wrong'), node));
    expect([reply.status, reply.text]).toEqual([422, expect.stringContaining(text)]);
  });
});
