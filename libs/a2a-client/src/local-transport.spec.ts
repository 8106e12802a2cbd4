import { A2AError, type StreamResponse, statusUpdate, type Task, userMessage } from '#libs/protocol';
import type { CallOptions } from './agent-client.js';
import { HttpAgentDirectory } from './http-agent-directory.js';
import { LocalAgents } from './local-agents.js';

const task: Task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } };
const reference = { taskId: 't', contextId: 'c' };

class StubAgents extends LocalAgents {
  seen: CallOptions | undefined;
  failure: Error | undefined;
  forever = false;

  pathOf(url: string): string | undefined {
    return url.startsWith('http://self/a2a/') ? url.slice('http://self/a2a/'.length) : undefined;
  }
  async *send(_path: string, _request: unknown, options: CallOptions): AsyncIterable<StreamResponse> {
    this.seen = options;
    if (this.failure) throw this.failure;
    yield statusUpdate(reference, 'TASK_STATE_WORKING');
    if (this.forever) await new Promise(() => undefined);
    yield statusUpdate(reference, 'TASK_STATE_COMPLETED');
  }
  subscribe(): AsyncIterable<StreamResponse> {
    throw new A2AError('UNSUPPORTED_OPERATION');
  }
  async getTask(): Promise<Task> {
    return task;
  }
  async cancelTask(): Promise<Task> {
    throw new A2AError('TASK_NOT_CANCELABLE');
  }
}

describe('a client of an agent in this process', () => {
  const agents = new StubAgents();
  const refused = async (): Promise<Response> => {
    throw new Error('no call may leave the process');
  };
  const directory = new HttpAgentDirectory({ http: { fetch: refused, cachedFetch: refused }, locals: () => agents });
  const message = userMessage('hello');

  beforeEach(() => Object.assign(agents, { seen: undefined, failure: undefined, forever: false }));

  it('sends without a socket and tells who calls', async () => {
    const client = await directory.client('http://self/a2a/workflows/w');
    const parent = { taskId: 'run', reference: 'node#1' };
    expect(await collect(client.send({ message }, { parent }))).toHaveLength(2);
    expect(agents.seen?.parent).toEqual(parent);
  });

  it('tells an A2AError as the wire would, and hides any other', async () => {
    const client = await directory.client('http://self/a2a/workflows/w');
    agents.failure = new A2AError('TASK_NOT_FOUND', { message: 'node "x" not registered' });
    await expect(collect(client.send({ message }))).rejects.toMatchObject({
      kind: 'not-found',
      message: 'a2a error -32001: node "x" not registered',
    });
    agents.failure = new Error('password is 1234');
    await expect(collect(client.send({ message }))).rejects.not.toThrow(/1234/);
  });

  it('holds the total limit although the agent ignores its signal', async () => {
    const client = await directory.client('http://self/a2a/workflows/w');
    agents.forever = true;
    await expect(collect(client.send({ message }, { timeouts: { total: 50 } }))).rejects.toMatchObject({
      kind: 'timeout',
    });
  });

  it('follows an ended Task with GetTask and tells a refused cancel', async () => {
    const client = await directory.client('http://self/a2a/workflows/w');
    expect(await collect(client.follow('t'))).toEqual([{ task }]);
    expect(await client.cancel('t')).toBe('refused');
  });
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
