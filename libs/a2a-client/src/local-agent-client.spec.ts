import type { CallContext, LocalRequestHandler, ServedAgent } from '#libs/agents';
import { A2AError, type StreamResponse, statusUpdate, type Task, userMessage } from '#libs/protocol';
import { HttpAgentDirectory } from './http-agent-directory.js';

const task: Task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } };
const reference = { taskId: 't', contextId: 'c' };

class StubHandler implements LocalRequestHandler {
  seen: CallContext | undefined;
  failure: Error | undefined;
  forever = false;
  /** Signal that `cancelTask` received. It aborts when the caller no longer waits for the cancellation. */
  signal: AbortSignal | undefined;

  async resolveAgent(call: CallContext): Promise<ServedAgent> {
    this.seen = call;
    return {} as ServedAgent;
  }
  async *sendInProcess(_request: unknown, call: CallContext): AsyncGenerator<StreamResponse, void, undefined> {
    this.seen = call;
    if (this.failure) throw this.failure;
    yield statusUpdate(reference, 'TASK_STATE_WORKING');
    if (this.forever) await new Promise(() => undefined);
    yield statusUpdate(reference, 'TASK_STATE_COMPLETED');
  }
  subscribeToTask(): AsyncIterable<{ response: StreamResponse }> {
    throw new A2AError('UNSUPPORTED_OPERATION');
  }
  async getTask(): Promise<Task> {
    return task;
  }
  async cancelTask(...[, , , signal]: Parameters<LocalRequestHandler['cancelTask']>): Promise<Task> {
    this.signal = signal;
    throw new A2AError('TASK_NOT_CANCELABLE');
  }
}

describe('a client of an agent in this process', () => {
  const handler = new StubHandler();
  const refused = async (): Promise<Response> => {
    throw new Error('no call may leave the process');
  };
  const directory = new HttpAgentDirectory({
    http: { fetch: refused, cachedFetch: refused },
    local: { address: { internalUrl: 'http://self' }, handler: () => handler },
  });
  const message = userMessage('hello');
  const scope = { tenant: 't', owner: 'o' };

  beforeEach(() => Object.assign(handler, { seen: undefined, failure: undefined, forever: false }));

  it('sends without a socket and tells who calls which agent, and by which revision', async () => {
    const client = await directory.resolveClient('http://self/a2a/workflows/w/');
    const parent = { taskId: 'run', reference: 'node#1' };
    expect(await collect(client.sendMessage({ message }, { scope, parent, revision: 'r' }))).toHaveLength(2);
    expect(handler.seen).toMatchObject({ agent: 'workflows/w', scope, parent, revision: 'r' });
  });

  it.each([
    ['http://self/a2a', ''],
    ['http://self/a2a/workflows/w/.well-known/agent-card.json', 'workflows/w'],
  ])('finds the agent at %s', async (url, path) => {
    await (await directory.resolveClient(url)).getTask('t', { scope });
    expect(handler.seen).toMatchObject({ agent: path });
  });

  it.each(['http://self/other', 'http://self/a2another', 'http://other/a2a'])(
    'leaves %s to the network',
    async (url) => {
      await expect(directory.resolveClient(url)).rejects.toMatchObject({ name: 'AgentCallError' });
      expect(handler.seen).toBeUndefined();
    },
  );

  it('makes no call that is nobody’s', async () => {
    const client = await directory.resolveClient('http://self/a2a/workflows/w');
    const nobodys = { cause: { message: expect.stringContaining('does not say for whom it is made') } };
    await expect(client.getTask('t')).rejects.toMatchObject(nobodys);
    await expect(collect(client.sendMessage({ message }))).rejects.toMatchObject(nobodys);
    expect(handler.seen).toBeUndefined();
  });

  it('tells an A2AError as the wire would, and hides any other', async () => {
    const client = await directory.resolveClient('http://self/a2a/workflows/w');
    handler.failure = new A2AError('TASK_NOT_FOUND', { message: 'node "x" not registered' });
    await expect(collect(client.sendMessage({ message }, { scope }))).rejects.toMatchObject({
      kind: 'not-found',
      message: 'a2a error -32001: node "x" not registered',
    });
    handler.failure = new Error('password is 1234');
    await expect(collect(client.sendMessage({ message }, { scope }))).rejects.not.toThrow(/1234/);
  });

  it('holds the total limit although the agent ignores its signal', async () => {
    const client = await directory.resolveClient('http://self/a2a/workflows/w');
    handler.forever = true;
    await expect(collect(client.sendMessage({ message }, { scope, timeouts: { total: 50 } }))).rejects.toMatchObject({
      kind: 'timeout',
    });
  });

  it('follows an ended Task with GetTask and tells a refused cancel', async () => {
    const client = await directory.resolveClient('http://self/a2a/workflows/w');
    expect(await collect(client.followTask('t', { scope }))).toEqual([{ task }]);
    expect(await client.cancelTask('t', { scope })).toBe('refused');
  });

  it('leaves no cancel waiting behind the end of its call', async () => {
    const client = await directory.resolveClient('http://self/a2a/workflows/w');
    await client.cancelTask('t', { scope });
    expect(handler.signal?.aborted).toBe(true);
  });
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
