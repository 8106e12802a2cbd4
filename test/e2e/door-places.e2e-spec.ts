import type { JsonObject } from '#libs/protocol';
import { rpc, sendTask } from '../support/a2a.js';
import { AGREED, BrainstormApi, payloadOf, transforms } from '../support/brainstorm.js';
import { outline, Talks } from '../support/conversation.js';
import { DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { FakeAgent } from '../support/fake-agent.js';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { Api, echo, linear, unique } from '../support/workflow.js';

let database: TestDatabase;
let llm: FakeLlm;
let parley: Parley;
let api: Api;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  llm = await FakeLlm.start();
  const env = { LLM_BASE_URL: llm.url, LLM_API_KEY: 'k', LLM_MODEL: 'house' };
  parley = await startParley({ databaseUrl: database.url, env });
  api = new Api(parley.url);
});

afterAll(async () => {
  await parley?.stop();
  await Promise.all([llm?.stop(), database?.drop(), ...ends.map((end) => end())]);
});

/** Registers an agent of the official SDK. @returns the agent, and its path here */
async function register(): Promise<{ agent: DoorAgent; path: string; base: string }> {
  const agent = await DoorAgent.start();
  ends.push(() => agent.end());
  const { name, base } = await openDoor(parley.url, agent.url);
  return { agent, path: `agents/${name}`, base };
}

async function statesAt(base: string): Promise<string[]> {
  const { body } = await rpc<{ tasks: { status: { state: string } }[] }>(base, 'ListTasks', {});
  return (body.result?.tasks ?? []).map(({ status }) => status.state);
}

/** Says `message` to the one tool that is offered, then quotes its result. */
function calling(message: string): FakeLlm['answer'] {
  return (body: JsonObject): FakeAnswer => {
    const last = (body.messages as unknown as { role: string; content: string }[]).at(-1);
    const [tool] = (body.tools ?? []) as { function: { name: string } }[];
    if (last?.role === 'tool' || tool === undefined) return { text: `heard ${String(last?.content)}` };
    return { toolCalls: [{ id: 'c1', name: tool.function.name, args: { message } }] };
  };
}

async function agentWith(tool: JsonObject): Promise<string> {
  const { name } = await api.save(linear(unique('agent'), echo('a', { tools: [tool] })));
  return api.base(name, 'a');
}

describe('a registered agent as a tool of an agent node', () => {
  it('is offered by its card, and answers', async () => {
    const { agent, path, base } = await register();
    llm.calls.length = 0;
    llm.answer = calling('hello');
    const done = await sendTask(await agentWith({ agent: path, name: 'helper' }), 'x');
    expect(llm.calls[0]?.body.tools).toMatchObject([
      { function: { name: 'agent__helper', description: expect.stringContaining('Echoes each Message') } },
    ]);
    expect(agent.heard[0]?.parts[0]?.text).toBe('hello');
    expect(done.status.message?.parts[0]?.text).toContain('hello');
    expect(await statesAt(base)).toEqual(['TASK_STATE_COMPLETED']);
  });

  it('asks the caller where it asks, and gets the answer', async () => {
    const { agent, path } = await register();
    llm.answer = calling('ask');
    const node = await agentWith({ agent: path, name: 'helper', onQuestion: 'ask' });
    const asked = await sendTask(node, 'x');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(asked.status.message?.parts.map(({ text }) => text).join(' ')).toContain('which?');
    const done = await sendTask(node, 'this one', { fields: { taskId: asked.id } });
    expect(done.status.message?.parts[0]?.text).toContain('this one');
    expect(agent.heard[1]?.taskId).toBe(agent.heard[0]?.taskId);
  });

  it('is canceled with its caller', async () => {
    const { agent, path, base } = await register();
    llm.answer = calling('hold');
    const node = await agentWith({ agent: path, name: 'helper' });
    const { id } = await sendTask(node, 'x', { configuration: { returnImmediately: true } });
    await agent.untilHolding();
    await rpc(node, 'CancelTask', { id });
    await until(async () => (await statesAt(base))[0] === 'TASK_STATE_CANCELED', { what: 'the Task to be canceled' });
    expect(agent.holding).toEqual([]);
  });
});

describe('a registered agent as a speaker of a conversation', () => {
  it('talks in one context at the agent, and its question is a turn', async () => {
    const [one, other] = [await register(), await register()];
    const talks = new Talks(api);
    const talk = { requester: one.path, target: other.path, message: 'ask', maxTurns: 2 };
    const frames = await talks.play(talk);
    expect(frames.map(outline)).toEqual(['0 ask', '1 which?', '2 which?', '3 which?', 'complete max_turns']);
    expect(new Set(other.agent.heard.map(({ contextId }) => contextId)).size).toBe(1);
  });

  it('asks the caller for a login where a tool began the conversation, and continues with the answer', async () => {
    const { agent, path } = await register();
    llm.answer = calling('login');
    const node = await agentWith({ agent: path, name: 'helper', talk: { maxTurns: 0 } });
    const asked = await sendTask(node, 'x');
    expect(asked.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(asked.status.message?.parts.map(({ text }) => text).join(' ')).toContain('login: why');
    const done = await sendTask(node, 'signed in', { fields: { taskId: asked.id } });
    expect(done.status.message?.parts[0]?.text).toContain('signed in');
    expect(agent.heard[1]?.taskId).toBe(agent.heard[0]?.taskId);
  });

  it('is canceled with the conversation', async () => {
    const [one, other] = [await register(), await register()];
    const talks = new Talks(api);
    const id = await talks.start({ requester: one.path, target: other.path, message: 'hold', maxTurns: 0 });
    await other.agent.untilHolding();
    await rpc(`${parley.url}/a2a/conversations`, 'CancelTask', { id });
    await until(async () => (await statesAt(other.base))[0] === 'TASK_STATE_CANCELED', {
      what: 'the Task to be canceled',
    });
    expect(other.agent.holding).toEqual([]);
  });
});

describe('a registered agent as a role of a brainstorm', () => {
  it('gets the state as data, and gives it back', async () => {
    const brainstorms = new BrainstormApi(api);
    const agents = await Promise.all([FakeAgent.start(), FakeAgent.start()]);
    ends.push(() => Promise.all(agents.map((agent) => agent.stop())));
    for (const agent of agents) agent.always(transforms(AGREED));
    const paths = await Promise.all(agents.map(async ({ url }) => `agents/${(await openDoor(parley.url, url)).name}`));
    const id = await brainstorms.start(
      paths.map((agent) => ({ agent })),
      { maxIterations: 1 },
    );
    const ended = await brainstorms.rested(id);
    expect(ended.passes[0]?.agents.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(agents.map(({ sends }) => payloadOf(sends[0]).role)).toEqual(['build', 'review']);
    expect(ended.agents.map(({ agent }) => agent)).toEqual(paths);
  });

  it('is canceled with the brainstorm', async () => {
    const brainstorms = new BrainstormApi(api);
    const [one, other] = [await register(), await register()];
    const id = await brainstorms.start([{ agent: one.path }, { agent: other.path }], { idea: 'hold' });
    await until(async () => one.agent.heard.length > 0, { what: 'the agent to be called' });
    await brainstorms.act(id, 'cancel');
    await until(async () => ['canceled', 'failed'].includes((await brainstorms.get(id)).status), {
      what: 'the brainstorm to end',
    });
  });
});
