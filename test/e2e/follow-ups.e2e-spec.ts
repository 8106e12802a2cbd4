import { firstText, sendTask } from '../support/a2a.js';
import { type AskingAgent, startAskingAgent } from '../support/asking-sdk-agent.js';
import { Talks } from '../support/conversation.js';
import { useSharedStage } from '../support/shared-stage.js';
import { external, linear, output, textOf, unique } from '../support/workflow.js';
import { ChatProcess } from './agent-app/chat-process.js';

const stage = useSharedStage();
const agents: AskingAgent[] = [];
afterEach(() => Promise.all(agents.splice(0).map((it) => it.stop())));

it.each([
  ['1.0', 'JSONRPC'],
  ['1.0', 'HTTP+JSON'],
  ['0.3', 'JSONRPC'],
  ['0.3', 'HTTP+JSON'],
] as const)('a run answers an agent of %s over %s that tells of updates alone', async (version, binding) => {
  const agent = await startAskingAgent({ version, binding, streaming: true, updatesAlone: true });
  agents.push(agent);
  const name = unique('asks');
  await stage.api.save(linear(name, external('x', agent.url), output('out', { prompt: 'So: {{x}}' })));
  const base = stage.api.base(name);
  const first = await sendTask(base, 'hello');
  const ids = { fields: { taskId: first.id, contextId: first.contextId } };
  await sendTask(base, 'Ada', ids);
  await sendTask(base, 'blue', ids);
  expect(textOf((await stage.api.run(first.id)).result)).toBe('So: Ada likes blue');
});

describe.each([
  ['1.0', 'JSONRPC', true],
  ['1.0', 'HTTP+JSON', true],
  ['0.3', 'JSONRPC', true],
  ['0.3', 'HTTP+JSON', true],
  ['1.0', 'JSONRPC', false],
  ['1.0', 'HTTP+JSON', false],
  ['0.3', 'JSONRPC', false],
] as const)('an agent on the SDK of A2A %s over %s that asks back, streaming: %s', (version, binding, streaming) => {
  let agent: AskingAgent;

  beforeAll(async () => {
    agent = await startAskingAgent({ version, binding, streaming });
  });

  afterAll(() => agent.stop());

  it('asks a run its questions one after the other, and gets the answers', async () => {
    const name = unique('asks');
    await stage.api.save(linear(name, external('x', agent.url), output('out', { prompt: 'So: {{x}}' })));
    const base = stage.api.base(name);
    const first = await sendTask(base, 'hello');
    expect(first.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const ids = { fields: { taskId: first.id, contextId: first.contextId } };
    expect(first.status.message?.parts[0]?.text).toContain('Name?');
    const second = await sendTask(base, 'Ada', ids);
    expect(second.status.message?.parts[0]?.text).toContain('Colour?');
    const third = await sendTask(base, 'blue', ids);
    expect(third.status.state).toBe('TASK_STATE_COMPLETED');
    const run = await stage.api.run(first.id);
    expect(textOf(run.result)).toBe('So: Ada likes blue');
  });

  it("asks at the node's own route", async () => {
    const name = unique('asks');
    await stage.api.save(linear(name, external('x', agent.url)));
    const base = stage.api.base(name, 'x');
    const first = await sendTask(base, 'hello');
    const ids = { fields: { taskId: first.id, contextId: first.contextId } };
    expect(first.status.message?.parts[0]?.text).toBe('Name?');
    expect((await sendTask(base, 'Ada', ids)).status.message?.parts[0]?.text).toBe('Colour?');
    expect(firstText(await sendTask(base, 'blue', ids))).toBe('Ada likes blue');
  });

  it('asks in a conversation', async () => {
    const talks = new Talks(stage.api);
    const other = await stage.fake({ name: 'other' });
    other.always((_call, index) => ({ message: [{ text: ['Ada', 'blue'][index] ?? 'REPLY_SKIP' }] }));
    const id = await talks.start({ requester: other.url, target: agent.url, message: 'hello', maxTurns: 4 });
    const { turns, error } = await talks.ended(id);
    expect(error).toBeUndefined();
    expect(turns.map(({ text }) => text)).toEqual(['hello', 'Name?', 'Ada', 'Colour?', 'blue', 'Ada likes blue']);
  });

  it('asks whoever talks to it with `chat`', async () => {
    const client = ChatProcess.spawn(agent.url);
    try {
      expect(await client.say('hello')).toBe('Name?');
      expect(await client.say('Ada')).toBe('Colour?');
      expect(await client.say('blue')).toBe('Ada likes blue [completed]');
    } finally {
      client.kill();
    }
  });
});
