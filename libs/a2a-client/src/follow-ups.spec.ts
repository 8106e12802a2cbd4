import { OutboundHttp } from '#libs/http-client';
import { type StreamResponse, userMessage } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { FakeAgent, type FakeAgentOptions } from '../../../test/support/fake-agent.js';
import { answers, ends } from '../../../test/support/fake-behaviour.js';
import type { AgentClient } from './agent-client.js';
import { HttpAgentDirectory } from './http-agent-directory.js';

const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
const directory = new HttpAgentDirectory({ http });
const completed = { status: 'TASK_STATE_COMPLETED' } as const;

describe('a client over HTTP that answers a question', () => {
  let agent: FakeAgent;

  async function clientOf(options: FakeAgentOptions): Promise<AgentClient> {
    agent = await FakeAgent.start(options);
    return directory.resolveClient(agent.url);
  }

  afterEach(() => agent.stop());
  afterAll(() => http.close());

  async function asked(client: AgentClient): Promise<string> {
    agent.next(ends('TASK_STATE_INPUT_REQUIRED', 'which?'));
    await collect(client.sendMessage({ message: userMessage('hello') }));
    return agent.taskIds()[0] ?? '';
  }

  const followUp = (client: AgentClient, taskId: string) =>
    collect(client.sendMessage({ message: userMessage('this', { taskId }) }));

  it.each([
    ['asks something else', ends('TASK_STATE_INPUT_REQUIRED', 'and which?'), 'TASK_STATE_INPUT_REQUIRED'],
    ['asks the same again', ends('TASK_STATE_INPUT_REQUIRED', 'which?'), 'TASK_STATE_INPUT_REQUIRED'],
    ['completes', answers('thanks'), 'TASK_STATE_COMPLETED'],
  ] as const)('takes the stored Task before a follow-up that %s for where it came from', async (_what, turn, state) => {
    const client = await clientOf({ streaming: true, storedFirst: true });
    const taskId = await asked(client);
    agent.next(turn);
    const events = await followUp(client, taskId);
    expect(events[0]).toMatchObject({ task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } } });
    expect(stateOf(events.at(-1))).toBe(state);
    expect(
      agent.calls
        .map(({ method }) => method)
        .filter(Boolean)
        .slice(1, 4),
    ).toEqual(['GetTask', 'SendMessage', 'SubscribeToTask']);
    expect(agent.sends).toHaveLength(2);
  });

  it.each([
    ['asks something else', ends('TASK_STATE_INPUT_REQUIRED', 'and which?'), 'TASK_STATE_INPUT_REQUIRED'],
    ['completes', answers('thanks'), 'TASK_STATE_COMPLETED'],
  ] as const)('takes the first answer to a follow-up for the whole, where it %s', async (_what, turn, state) => {
    const client = await clientOf({ streaming: true });
    const taskId = await asked(client);
    agent.next(turn);
    const events = await followUp(client, taskId);
    expect(events.map(stateOf)).toEqual([state]);
  });

  it('reads on where the connection was lost after a follow-up had come in', async () => {
    const client = await clientOf({ streaming: true });
    const taskId = await asked(client);
    agent.next({ steps: [{ cut: true }, { sleep: 50 }, { artifact: { parts: [{ text: 'x' }] } }, completed] });
    expect(stateOf((await followUp(client, taskId)).at(-1))).toBe('TASK_STATE_COMPLETED');
    expect(agent.sends).toHaveLength(2);
  });

  it('fails where the connection was lost before a follow-up had come in', async () => {
    const client = await clientOf({ streaming: true });
    const taskId = await asked(client);
    agent.next({ hang: true });
    const sent = followUp(client, taskId);
    await agent.sent(2);
    await agent.goDown();
    await agent.comeUp();
    await expect(sent).rejects.toMatchObject({ kind: 'connect' });
    expect(agent.sends).toHaveLength(2);
  });

  it('takes a Task that waits for the answer where a follow-up tells of nothing else', async () => {
    const client = await clientOf({ streaming: true });
    const taskId = await asked(client);
    const task = await client.getTask(taskId);
    agent.always((call) => ({ body: JSON.stringify({ jsonrpc: '2.0', id: call.body?.id, result: { task } }) }));
    const events = await followUp(client, taskId);
    expect(events[0]).toEqual({ task });
    expect(new Set(events.map((event) => JSON.stringify(event))).size).toBe(1);
    expect(agent.sends).toHaveLength(2);
  });
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function stateOf(event: StreamResponse | undefined): string | undefined {
  if (event === undefined) return undefined;
  if ('task' in event) return event.task.status.state;
  return 'statusUpdate' in event ? event.statusUpdate.status.state : undefined;
}
