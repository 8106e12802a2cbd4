import { getTask, sendTask } from '../../support/a2a.js';
import { FakeLlm } from '../../support/fake-llm.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import { AgentProcess } from './agent-process.js';
import { ChatProcess } from './chat-process.js';

const cleanups: (() => unknown)[] = [];
let database: TestDatabase;

beforeAll(async () => {
  database = await freshDatabase();
});

afterEach(async () => {
  for (const end of cleanups.splice(0).reverse()) await end();
});

afterAll(() => database?.drop());

function chat(...args: string[]): ChatProcess {
  const process = ChatProcess.spawn(...args);
  cleanups.push(() => process.kill());
  return process;
}

async function orderAgent(env: Record<string, string> = {}): Promise<{ url: string; agent: AgentProcess }> {
  const agent = AgentProcess.spawn(['--order'], database.url, env);
  cleanups.push(() => agent.signal('SIGKILL'));
  return { url: `${await agent.ready()}/a2a`, agent };
}

describe('the order-taking agent', () => {
  it('I2-I6 asks, remembers and completes; the next order starts from the beginning', async () => {
    const { url } = await orderAgent();
    const client = chat(url);
    expect(await client.say('hello')).toMatch(/^What would you like to drink\?/);
    expect(await client.say('two teas please')).toBe('Which size of tea: small, medium, large?');
    expect(await client.say('large')).toBe('Your order: 2 × large tea. Coming up!');
    // The order itself is data beside the text.
    await until(() => /^\{.*"tea".*\} \[completed\]$/m.test(client.output), { what: 'the order' });
    expect(await client.say('small')).toMatch(/^What would you like to drink\?/);
    expect(await client.end()).toBe(0);
  });

  it('I4, I5, I10 knows after its own death what was said before', async () => {
    const first = await orderAgent();
    const asked = await sendTask(first.url, 'a latte');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await first.agent.signal('SIGKILL');
    const second = await orderAgent();
    const fields = { taskId: asked.id, contextId: asked.contextId };
    const done = await sendTask(second.url, 'small', { fields });
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(done.artifacts?.[0]?.parts).toMatchObject([
      { text: 'Your order: 1 × small latte. Coming up!' },
      { data: { drink: 'latte', size: 'small' } },
    ]);
    const { history = [] } = await getTask(second.url, asked.id);
    expect(history.map(({ role, parts }) => `${role} ${parts[0]?.text}`)).toEqual([
      'ROLE_USER a latte',
      'ROLE_AGENT Which size of latte: small, medium, large?',
      'ROLE_USER small',
      'ROLE_AGENT Your order: 1 × small latte. Coming up!',
    ]);
  });

  it('I4 asks a model where an endpoint is configured, and sends it the whole conversation', async () => {
    const llm = await FakeLlm.start();
    cleanups.push(() => llm.stop());
    llm.answer = () => '{"say":"Small or large?","order":{"drink":"cocoa"},"complete":false}';
    const { url } = await orderAgent({ LLM_BASE_URL: llm.url, LLM_MODEL: 'm', LLM_API_KEY: 'k' });
    const client = chat(url);
    expect(await client.say('something sweet')).toBe('Small or large?');
    llm.answer = () => '{"say":"One small cocoa!","order":{"drink":"cocoa","size":"small"},"complete":true}';
    expect(await client.say('small')).toBe('One small cocoa!');
    await until(() => /^\{.*"cocoa".*\} \[completed\]$/m.test(client.output), { what: `the order: ${client.output}` });
    const messages = llm.calls[1]?.body['messages'] as { role: string; content: string }[];
    expect(messages.slice(1)).toEqual([
      { role: 'user', content: 'something sweet' },
      { role: 'assistant', content: 'Small or large?' },
      { role: 'user', content: 'small' },
    ]);
  });
});
