import { OutboundHttp } from '#libs/http-client';
import { type StreamResponse, type Task, type TaskState, userMessage } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { FakeAgent } from '../../../test/support/fake-agent.js';
import { answers, holds } from '../../../test/support/fake-behaviour.js';
import { HttpAgentDirectory } from './http-agent-directory.js';

const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
const message = userMessage('hello');

describe('an agent that is asked too often', () => {
  let agent: FakeAgent;
  /**
   * Methods whose next calls are refused with 429, in this order: methods of JSON-RPC, or `card` for a request of the
   * card.
   */
  const refusals: string[] = [];
  const refused: string[] = [];

  /** Wraps a `fetch` like a rate-limiting proxy in front of the agent: the calls in `refusals` get 429. */
  const limited = (send: typeof fetch): typeof fetch =>
    (async (input, init) => {
      const method = init?.body ? (JSON.parse(init.body as string) as { method: string }).method : 'card';
      if (refusals[0] !== method) return send(input, init);
      refused.push(refusals.shift() ?? '');
      return new Response('slow down', { status: 429, headers: { 'retry-after': '0' } });
    }) satisfies typeof fetch;

  const clientOf = async (streaming: boolean, send: typeof fetch = http.fetch) => {
    agent = await FakeAgent.start({ streaming });
    const directory = new HttpAgentDirectory({ http: { fetch: limited(send), cachedFetch: limited(http.fetch) } });
    return directory.resolveClient(agent.url);
  };

  beforeEach(() => [refusals, refused].forEach((list) => list.splice(0)));
  afterEach(() => agent.stop());
  afterAll(() => http.close());

  it('is looked after with GetTask all the same', async () => {
    const client = await clientOf(false, works('TASK_STATE_WORKING', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'));
    refusals.push('GetTask', 'GetTask');
    const events: StreamResponse[] = [];
    for await (const event of client.sendMessage({ message })) events.push(event);
    expect(events.at(-1)).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(refused).toEqual(['GetTask', 'GetTask']);
  });

  it('is subscribed to again after a cut', async () => {
    const client = await clientOf(true);
    agent.always({ steps: [{ status: 'TASK_STATE_WORKING' }, { sleep: 20 }, { cut: true }, { hold: true }, DONE] });
    refusals.push('SubscribeToTask');
    const events: StreamResponse[] = [];
    for await (const event of client.sendMessage({ message })) {
      events.push(event);
      if (refused.length > 0) agent.release();
    }
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(agent.calls.filter(({ method }) => method === 'GetTask')).toEqual([]);
    expect(agent.sends).toHaveLength(1);
  });

  it('has a card all the same', async () => {
    refusals.push('card');
    const client = await clientOf(true);
    expect(client.card).toBeDefined();
    expect(refused).toEqual(['card']);
  });

  it('is not taken for one without a card where it goes on refusing', async () => {
    refusals.push(...Array(4).fill('card'));
    await expect(clientOf(true)).rejects.toMatchObject({ kind: 'client-error', status: 429 });
  });

  it('has not refused a cancel', async () => {
    const client = await clientOf(true);
    agent.always(holds());
    const events = client.sendMessage({ message })[Symbol.asyncIterator]();
    await events.next();
    const [id = ''] = agent.taskIds();
    refusals.push(...Array(4).fill('CancelTask'));
    expect(await client.cancelTask(id)).toBe('unreachable');
    refusals.push('CancelTask');
    expect(await client.cancelTask(id)).toBe('acknowledged');
    await events.return?.();
  });

  it('is not sent a Message again', async () => {
    const client = await clientOf(true);
    agent.always(answers('there'));
    refusals.push('SendStreamingMessage');
    await expect(client.sendMessage({ message })[Symbol.asyncIterator]().next()).rejects.toMatchObject({ status: 429 });
    expect(agent.sends).toEqual([]);
  });
});

/** Creates a `fetch` that answers every call with a Task, whose state is the next one of `states`. */
function works(...states: TaskState[]): typeof fetch {
  return async (_input, init) => {
    const { id, method } = JSON.parse(init?.body as string) as { id: number; method: string };
    const task: Task = { id: 't', contextId: 'c', status: { state: states.shift() ?? 'TASK_STATE_FAILED' } };
    return Response.json({ jsonrpc: '2.0', id, result: method === 'SendMessage' ? { task } : task });
  };
}

const DONE = { status: 'TASK_STATE_COMPLETED' } as const;
