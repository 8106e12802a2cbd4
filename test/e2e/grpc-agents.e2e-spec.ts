import { jest } from '@jest/globals';
import { type AgentClient, HttpAgentDirectory } from '#libs/a2a-client';
import { OutboundHttp } from '#libs/http-client';
import { type Part, type StreamResponse, userMessage } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { SdkGrpcAgent, type SdkGrpcAgentOptions } from '../support/sdk-grpc-agent.js';

const PARTS: Part[] = [
  { text: 'grüße 🎉', mediaType: 'text/plain' },
  { data: { nested: [1, null, { deep: true }] }, mediaType: 'application/json' },
  { raw: Buffer.from([0, 255, 62, 63]).toString('base64'), filename: 'f.bin' },
  { url: 'https://example.com/a?b=c' },
];

const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
const directory = new HttpAgentDirectory({ http });
const agents: SdkGrpcAgent[] = [];

async function startAgent(options?: SdkGrpcAgentOptions): Promise<{ agent: SdkGrpcAgent; client: AgentClient }> {
  const agent = await SdkGrpcAgent.start(options);
  agents.push(agent);
  return { agent, client: await directory.resolveClient(agent.url) };
}

async function send(client: AgentClient, parts: Part[], taskId?: string): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  const message = { ...userMessage('x'), parts, ...(taskId !== undefined && { taskId }) };
  for await (const event of client.sendMessage({ message })) events.push(event);
  return events;
}

function taskIn(events: readonly StreamResponse[]): string {
  const found = events.find((it) => 'task' in it);
  if (found === undefined) throw new Error('no Task was reported');
  return found.task.id;
}

beforeAll(() => void jest.spyOn(console, 'error').mockImplementation(() => undefined));
afterEach(() => Promise.all(agents.splice(0).map((agent) => agent.kill())));
afterAll(async () => {
  jest.restoreAllMocks();
  await http.close();
});

describe.each([true, false])('an agent of the official SDK that offers gRPC only, streaming: %s', (streaming) => {
  it('gets every kind of Part and answers with it', async () => {
    const { agent, client } = await startAgent({ streaming, tenant: 'a tenant' });
    const events = await send(client, PARTS);
    const task = await client.getTask(taskIn(events));
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect(task.artifacts?.[0]?.parts).toEqual([...PARTS, ...PARTS]);
    const [first] = agent.calls;
    expect(first).toMatchObject({
      method: streaming ? 'sendStreamingMessage' : 'sendMessage',
      metadata: { 'a2a-version': '1.0' },
      request: { tenant: 'a tenant' },
    });
    expect(agent.calls.every(({ request }) => request.tenant === 'a tenant')).toBe(true);
  });

  it('answers with a direct Message', async () => {
    const { client } = await startAgent({ streaming });
    expect(await send(client, [{ text: 'direct' }])).toMatchObject([{ message: { parts: [{ text: 'directly' }] } }]);
  });

  it('asks a question and continues its Task with the answer', async () => {
    const { client } = await startAgent({ streaming });
    const asked = await send(client, [{ text: 'ask' }]);
    expect(asked.at(-1)).toMatchObject(
      streaming
        ? {
            statusUpdate: {
              status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'which one?' }] } },
            },
          }
        : { task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } } },
    );
    const taskId = taskIn(asked);
    await send(client, [{ text: 'this one' }], taskId);
    expect(await client.getTask(taskId)).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'this one' }, { text: 'this one' }] }],
    });
  });

  it('reports errors of the protocol with their codes', async () => {
    const { client } = await startAgent({ streaming });
    await expect(client.getTask('nope')).rejects.toMatchObject({ kind: 'not-found', code: -32001 });
    await expect(send(client, [{ text: 'x' }], 'nope')).rejects.toMatchObject({ kind: 'not-found', code: -32001 });
    expect(await client.cancelTask('nope')).toBe('refused');
  });
});

it('a Task over gRPC is canceled while its stream is read and followed', async () => {
  const { agent, client } = await startAgent();
  const events = client.sendMessage({ message: userMessage('wait') })[Symbol.asyncIterator]();
  const first = (await events.next()).value as StreamResponse;
  const taskId = taskIn([first]);
  await agent.executor.waits;
  const followed = client.followTask(taskId)[Symbol.asyncIterator]();
  expect((await followed.next()).value).toMatchObject({ task: { id: taskId } });
  expect(await client.cancelTask(taskId)).toBe('acknowledged');
  const canceled = { statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } };
  for (const stream of [events, followed]) {
    const rest: StreamResponse[] = [];
    for (let next = await stream.next(); !next.done; next = await stream.next()) rest.push(next.value);
    expect(rest.at(-1)).toMatchObject(canceled);
  }
});

function stateOf(event: StreamResponse): string | undefined {
  if ('statusUpdate' in event) return event.statusUpdate.status.state;
  return 'task' in event ? event.task.status.state : undefined;
}

async function restOf(events: AsyncIterator<StreamResponse>): Promise<StreamResponse[]> {
  const rest: StreamResponse[] = [];
  for (let next = await events.next(); !next.done; next = await events.next()) rest.push(next.value);
  return rest;
}

it('a stream over gRPC whose connection is cut resumes by SubscribeToTask', async () => {
  const { agent, client } = await startAgent();
  const events = client.sendMessage({ message: userMessage('wait') })[Symbol.asyncIterator]();
  await events.next();
  await agent.executor.waits;
  const subscribed = agent.nextCall('subscribeToTask');
  agent.cutConnections();
  const rest = restOf(events);
  await subscribed;
  agent.executor.release();
  expect(stateOf((await rest).at(-1)!)).toBe('TASK_STATE_COMPLETED');
  const sent = agent.calls.filter(({ method }) => method.startsWith('send'));
  expect(sent).toHaveLength(1);
});

it('a Task over gRPC is found again at an agent that was killed and started again', async () => {
  const { agent, client } = await startAgent();
  const events = client.sendMessage({ message: userMessage('wait') })[Symbol.asyncIterator]();
  const taskId = taskIn([(await events.next()).value as StreamResponse]);
  await agent.executor.waits;
  const { port, cardPort } = agent;
  await agent.kill();
  agents.length = 0;
  const store = agent.endedStore(taskId);
  await startAgent({ port, cardPort, store: await store });
  expect((await restOf(events)).at(-1)).toMatchObject({
    task: { id: taskId, status: { state: 'TASK_STATE_COMPLETED' } },
  });
});

it('a Message is sent over gRPC as soon as an agent that was away listens', async () => {
  const { agent, client } = await startAgent();
  const { port, cardPort } = agent;
  await agent.kill();
  agents.length = 0;
  const refused = Promise.withResolvers<void>();
  const events: StreamResponse[] = [];
  const sending = (async () => {
    const onUnsent = () => refused.resolve();
    for await (const event of client.sendMessage({ message: userMessage('hello') }, { onUnsent })) events.push(event);
  })();
  await refused.promise;
  const { agent: again } = await startAgent({ port, cardPort });
  await sending;
  expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
  expect(again.calls).toHaveLength(1);
});
