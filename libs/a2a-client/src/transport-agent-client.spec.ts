import { jest } from '@jest/globals';
import { OutboundHttp } from '#libs/http-client';
import { type StreamResponse, type Task, userMessage } from '#libs/protocol';
import { Backoff, loadConfig } from '#libs/service';
import { FakeAgent, type FakeAgentOptions } from '../../../test/support/fake-agent.js';
import { answers, ends, type FakeStep, holds } from '../../../test/support/fake-behaviour.js';
import { until } from '../../../test/support/until.js';
import type { AgentCallOptions, AgentClient } from './agent-client.js';
import { HttpAgentDirectory } from './http-agent-directory.js';

const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
const message = userMessage('hello');
const INTERNAL_ERROR = { code: -32603, message: 'Internal error' };
const completed = { status: 'TASK_STATE_COMPLETED' } as const;

describe('a client over HTTP', () => {
  const outcomes: string[] = [];
  const directory = new HttpAgentDirectory({ http, calls: { inc: ({ outcome }) => outcomes.push(outcome) } });
  let agent: FakeAgent;

  async function clientOf(options: FakeAgentOptions = {}): Promise<AgentClient> {
    agent = await FakeAgent.start(options);
    return directory.resolveClient(agent.url);
  }

  async function send(client: AgentClient, options?: AgentCallOptions): Promise<StreamResponse[]> {
    return collect(client.sendMessage({ message }, options));
  }

  beforeEach(() => outcomes.splice(0));
  afterEach(() => agent.stop());
  afterAll(() => http.close());

  it('J4 tries again after 5xx with the same Message', async () => {
    const client = await clientOf();
    agent.next({ httpStatus: 503 }, { httpStatus: 500 });
    expect(await send(client)).toMatchObject([{ task: { status: { state: 'TASK_STATE_COMPLETED' } } }]);
    expect(agent.sends.map((it) => it.message?.messageId)).toEqual(Array(3).fill(message.messageId));
    expect(outcomes).toEqual(['ok']);
  });

  it('J4 gives up after three retries', async () => {
    const client = await clientOf();
    agent.always({ httpStatus: 503 });
    await expect(send(client)).rejects.toMatchObject({ kind: 'server-error', code: 503 });
    expect(agent.sends).toHaveLength(4);
    expect(outcomes).toEqual(['server-error']);
  });

  it('sends a Message again as often as it is asked to', async () => {
    const client = await clientOf();
    agent.always({ httpStatus: 503 });
    await expect(send(client, { resends: 0 })).rejects.toMatchObject({ kind: 'server-error' });
    expect(agent.sends).toHaveLength(1);
  });

  it.each([false, true])('keeps how long an agent asks to wait, streaming: %s', async (streaming) => {
    const client = await clientOf({ streaming });
    const late = new Date(Date.now() + 3_600_000).toUTCString();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'too often' } });
    agent.next(
      { httpStatus: 503, headers: { 'retry-after': '7' } },
      { httpStatus: 429, headers: { 'retry-after': late } },
      { httpStatus: 429, headers: { 'retry-after': 'soon' }, body },
    );
    const failure = () => send(client, { resends: 0 }).catch((error: unknown) => error);
    expect(await failure()).toMatchObject({ kind: 'server-error', status: 503, retryAfter: 7_000 });
    const asked = await failure();
    expect(asked).toMatchObject({ kind: 'client-error', message: 'HTTP 429', code: 429, status: 429 });
    expect(Math.abs(((asked as { retryAfter?: number }).retryAfter ?? 0) - 3_600_000)).toBeLessThan(60_000);
    const message = 'a2a error -32000: too often';
    const lasting = { kind: 'rpc-error', message, code: -32000, status: 429, retryAfter: undefined };
    expect(await failure()).toMatchObject(lasting);
  });

  it('J4 never tries again after 4xx', async () => {
    const client = await clientOf();
    agent.always({ httpStatus: 400 });
    await expect(send(client)).rejects.toMatchObject({ kind: 'client-error', message: 'HTTP 400' });
    expect(agent.sends).toHaveLength(1);
  });

  it('J4 tries again when no answer comes in time', async () => {
    const client = await clientOf();
    agent.next({ hang: true });
    expect(await send(client, { timeouts: { firstEvent: 500 } })).toHaveLength(1);
    expect(agent.sends.length).toBeGreaterThan(1);
  });

  it('E8 the total limit holds over everything, retries included', async () => {
    const client = await clientOf();
    agent.always({ hang: true });
    await expect(send(client, { timeouts: { firstEvent: 700, total: 3_000 } })).rejects.toMatchObject({
      kind: 'timeout',
      message: 'timeout: not finished within 3 s',
    });
    expect(agent.sends.length).toBeGreaterThan(1);
  });

  it.each([false, true])('B7 gives a JSON-RPC error with its code and text, streaming: %s', async (streaming) => {
    const client = await clientOf({ streaming });
    agent.always({ rpcError: { code: -32000, message: 'test error' } });
    await expect(send(client)).rejects.toMatchObject({
      kind: 'rpc-error',
      code: -32000,
      message: 'a2a error -32000: test error',
    });
    expect(agent.sends).toHaveLength(1);
  });

  it('gives the error in the body of a 4xx', async () => {
    const client = await clientOf();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'bad parts' } });
    agent.always({ httpStatus: 400, body });
    await expect(send(client)).rejects.toMatchObject({ kind: 'rpc-error', message: 'a2a error -32602: bad parts' });
  });

  it.each(['<html>', '{"jsonrpc":"2.0","id":1,"result":{"nothing":true}}', '[]'])(
    'refuses %s as an answer',
    async (body) => {
      const client = await clientOf();
      agent.always({ body });
      await expect(send(client)).rejects.toMatchObject({ kind: 'invalid-response' });
      expect(agent.sends).toHaveLength(1);
    },
  );

  it('streams where the card says so', async () => {
    const client = await clientOf({ streaming: true });
    const events = await send(client);
    expect(events.map((it) => Object.keys(it)[0])).toEqual(['task', 'artifactUpdate', 'statusUpdate']);
    expect(agent.sends[0]?.method).toBe('SendStreamingMessage');
  });

  it('goes on with SubscribeToTask where a stream was cut', async () => {
    const client = await clientOf({ streaming: true });
    agent.always({
      steps: [
        { status: 'TASK_STATE_WORKING' },
        { sleep: 20 },
        { cut: true },
        { hold: true },
        { status: 'TASK_STATE_COMPLETED' },
      ],
    });
    const events: StreamResponse[] = [];
    for await (const event of client.sendMessage({ message })) {
      events.push(event);
      if (agent.calls.some((it) => it.method === 'SubscribeToTask')) agent.release();
    }
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(agent.sends).toHaveLength(1);
  });

  it.each<[string, FakeStep[]]>([
    ['has ended', [{ cut: INTERNAL_ERROR }, { artifact: { parts: [{ text: 'x' }] } }, completed]],
    ['goes on', [{ cut: INTERNAL_ERROR }, { hold: true }, { artifact: { parts: [{ text: 'x' }] } }, completed]],
  ])('looks at a Task that %s although an error was told in the midst of it', async (_what, steps) => {
    const client = await clientOf({ streaming: true });
    agent.always({ steps: [{ status: 'TASK_STATE_WORKING' }, { sleep: 20 }, ...steps] });
    const events: StreamResponse[] = [];
    for await (const event of client.sendMessage({ message })) {
      events.push(event);
      if (agent.calls.some((it) => it.method === 'GetTask')) agent.release();
    }
    expect(events.at(-1)).toMatchObject({
      task: { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'x' }] }] },
    });
    expect(agent.sends).toHaveLength(1);
  });

  it('gives an error in the midst of an answer where its Task comes to nothing', async () => {
    const client = await clientOf({ streaming: true });
    agent.always({ steps: [{ status: 'TASK_STATE_WORKING' }, { sleep: 20 }, { cut: INTERNAL_ERROR }, { hold: true }] });
    const pauses = jest.spyOn(Backoff.prototype, 'pauseAfter').mockReturnValue(20);
    const sent = send(client);
    await expect(sent).rejects.toMatchObject({ kind: 'rpc-error', code: -32603 });
    pauses.mockRestore();
    expect(agent.calls.filter((it) => it.method === 'GetTask').length).toBeGreaterThan(1);
  });

  it('ends a silent stream with a time-out of its own', async () => {
    const client = await clientOf({ streaming: true });
    agent.always(holds());
    await expect(send(client, { timeouts: { idle: 100 } })).rejects.toMatchObject({
      kind: 'timeout',
      message: 'timeout: silent for 0.1 s',
    });
  });

  it.each([false, true])('closes the connection when the caller aborts, streaming: %s', async (streaming) => {
    const client = await clientOf({ streaming });
    agent.always(holds());
    const abort = new AbortController();
    const sent = send(client, { signal: abort.signal });
    const call = await agent.sent(1);
    abort.abort();
    await expect(sent).rejects.toMatchObject({ kind: 'aborted' });
    await until(() => call.aborted, { what: 'the connection to be closed' });
    expect(agent.sends).toHaveLength(1);
  });

  it('ends at a Task that waits', async () => {
    const client = await clientOf({ streaming: true });
    agent.always(ends('TASK_STATE_INPUT_REQUIRED', 'which?'));
    expect((await send(client)).at(-1)).toMatchObject({
      statusUpdate: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } },
    });
  });

  async function asked(client: AgentClient): Promise<string> {
    agent.next(ends('TASK_STATE_INPUT_REQUIRED', 'which?'));
    await send(client);
    return agent.taskIds()[0] ?? '';
  }

  const followUp = (client: AgentClient, taskId: string) =>
    collect(client.sendMessage({ message: userMessage('this', { taskId }) }));

  it('passes over what it does not know in a stream', async () => {
    const client = await clientOf({ streaming: true });
    agent.always((call) => ({
      contentType: 'text/event-stream',
      body: [{ surprise: { a: 1 } }, { message: { messageId: 'm', parts: [{ text: 'hi' }], mood: 'fine' }, more: [] }]
        .map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: call.body?.id, result, extra: true })}\n\n`)
        .join(''),
    }));
    expect(await send(client)).toEqual([{ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } }]);
  });

  it('asks an agent that does not stream to answer at once, but not for a follow-up', async () => {
    const client = await clientOf();
    await followUp(client, await asked(client));
    const wishes = agent.sends.map(({ body }) => (body?.params as { configuration: object }).configuration);
    expect(wishes).toEqual([
      { acceptedOutputModes: ['text/plain', 'application/json'], returnImmediately: true },
      { acceptedOutputModes: ['text/plain', 'application/json'] },
    ]);
  });

  it('waits for an agent that is not there yet, and sends the Message once', async () => {
    const client = await clientOf();
    await agent.goDown();
    const sent = send(client);
    setTimeout(() => void agent.comeUp(), 300);
    expect(await sent).toHaveLength(1);
    expect(agent.sends).toHaveLength(1);
    expect(outcomes).toEqual(['ok']);
  });

  it('tells that nothing has left, as long as that is so', async () => {
    const client = await clientOf();
    await agent.goDown();
    const reported: (string | undefined)[] = [];
    const back = Promise.withResolvers<void>();
    const onUnsent: AgentCallOptions['onUnsent'] = (failure) => {
      reported.push(failure?.message);
      back.resolve();
    };
    const sent = send(client, { onUnsent });
    await back.promise;
    await agent.comeUp();
    await sent;
    expect(reported.slice(0, 2)).toEqual(['no connection (ECONNREFUSED)', undefined]);
    expect(reported.at(-1)).toBeUndefined();
  });

  it('reports each attempt that is repeated, refused or overloaded', async () => {
    const client = await clientOf();
    await agent.goDown();
    const reasons: string[] = [];
    const onRepeat = (reason: string): void => {
      reasons.push(reason);
      if (reasons.length === 2) void agent.comeUp();
    };
    agent.next({ httpStatus: 503 });
    await send(client, { onRepeat });
    expect(reasons.slice(0, 2)).toEqual(
      [1, 2].map((it) => `no connection (ECONNREFUSED); attempt ${it} failed, further ones follow for 10 s`),
    );
    expect(reasons.at(-1)).toMatch(/^HTTP 503.*; attempt 1 of 4 failed, the next one follows within 1 s$/);
  });

  it.each<[string, () => AgentCallOptions]>([
    ['its patience', () => ({ timeouts: { refused: 250 } })],
    // Over in the middle of a long pause: an attempt that is cut off says nothing of whether it was sent.
    ['its time', () => ({ timeouts: { total: 1_100 } })],
    ['its caller', () => ({ signal: AbortSignal.timeout(1_100) })],
  ])('waits for an agent that does not come no longer than %s', async (_what, optionsOf) => {
    const client = await clientOf();
    await agent.goDown();
    await expect(send(client, optionsOf())).rejects.toMatchObject({
      kind: 'connect',
      unsent: true,
      message: 'no connection (ECONNREFUSED)',
    });
  });

  it('holds a limit that is longer than a timer can be', async () => {
    const client = await clientOf();
    agent.always({ delay: 50, then: answers('there') });
    expect(await send(client, { timeouts: { total: 2 ** 31, firstEvent: 2 ** 40 } })).toHaveLength(1);
  });

  it('waits with GetTask for a Task that comes back unfinished', async () => {
    const client = await clientOf();
    const states = ['TASK_STATE_WORKING', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'] as const;
    let asked = 0;
    const directoryOfWorker = new HttpAgentDirectory({
      http: {
        cachedFetch: fetch,
        fetch: async (input, init) => {
          const { id, method } = JSON.parse(init?.body as string) as { id: number; method: string };
          const task: Task = { id: 't', contextId: 'c', status: { state: states[asked++] ?? 'TASK_STATE_COMPLETED' } };
          return Response.json({ jsonrpc: '2.0', id, result: method === 'SendMessage' ? { task } : task });
        },
      },
    });
    const worker = await directoryOfWorker.resolveClient(client.agentUrl);
    const events = await send(worker);
    expect(events.at(-1)).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(asked).toBe(3);
  });

  it.each([false, true])('follows a Task that has ended with GetTask (no longer known to streams: %p)', async (it) => {
    const client = await clientOf({ streaming: true, forgetsEnded: it });
    agent.always(answers('done'));
    await send(client);
    const [id] = agent.taskIds();
    expect(await collect(client.followTask(id ?? ''))).toMatchObject([
      { task: { id, status: { state: 'TASK_STATE_COMPLETED' } } },
    ]);
  });

  it('says not-found for a Task that the agent does not know', async () => {
    const client = await clientOf({ streaming: true });
    const failure = { kind: 'not-found', message: 'a2a error -32001: Task not found' };
    await expect(collect(client.followTask('nope'))).rejects.toMatchObject(failure);
    await expect(client.getTask('nope')).rejects.toMatchObject(failure);
  });

  it('tells what came of CancelTask', async () => {
    const client = await clientOf({ streaming: true });
    agent.always(holds());
    const events = client.sendMessage({ message })[Symbol.asyncIterator]();
    await events.next();
    const [id = ''] = agent.taskIds();
    expect(await client.cancelTask('nope')).toBe('refused');
    agent.options.cancel = 'refuse';
    expect(await client.cancelTask(id)).toBe('refused');
    agent.options.cancel = 'acknowledge';
    expect(await client.cancelTask(id)).toBe('acknowledged');
    // It refuses by now, and the Task is canceled all the same.
    expect(await client.cancelTask(id)).toBe('acknowledged');
    await events.return?.();
    agent.options.cancel = 'hang';
    expect(await client.cancelTask(id, { timeouts: { total: 100 } })).toBe('unreachable');
  });
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
