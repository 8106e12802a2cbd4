import { jest } from '@jest/globals';
import { type AgentClient, HttpAgentDirectory } from '#libs/a2a-client';
import { OutboundHttp } from '#libs/http-client';
import { type Part, type StreamResponse, userMessage } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { type SdkServer, startSdkServer } from '../support/sdk-server.js';

const PARTS: Part[] = [
  { text: 'grüße 🎉', mediaType: 'text/plain' },
  { data: { nested: [1, null, { deep: true }] }, mediaType: 'application/json' },
  { raw: Buffer.from([0, 255, 62, 63]).toString('base64'), filename: 'f.bin' },
  { url: 'https://example.com/a?b=c' },
];

describe.each([
  ['JSONRPC', true],
  ['JSONRPC', false],
  ['HTTP+JSON', true],
  ['HTTP+JSON', false],
] as const)("our client and the official SDK's server over %s, streaming: %s", (binding, streaming) => {
  const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
  let server: SdkServer;
  let client: AgentClient;

  beforeAll(async () => {
    // The SDK writes each error that it answers with to the console.
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
    server = await startSdkServer(binding, streaming);
    client = await new HttpAgentDirectory({ http }).resolveClient(server.url);
  });

  afterAll(async () => {
    jest.restoreAllMocks();
    await server.stop();
    await http.close();
  });

  async function send(parts: Part[], taskId?: string): Promise<StreamResponse[]> {
    const events: StreamResponse[] = [];
    const message = { ...userMessage('x'), parts, ...(taskId !== undefined && { taskId }) };
    for await (const event of client.sendMessage({ message })) events.push(event);
    return events;
  }

  it('carries every kind of Part there and back', async () => {
    const events = await send(PARTS);
    const artifacts = events.flatMap((it) => ('artifactUpdate' in it ? [it.artifactUpdate] : []));
    const tasks = events.flatMap((it) => ('task' in it ? [it.task] : []));
    const task = streaming ? tasks[0] : tasks.at(-1);
    expect(task).toMatchObject({ metadata: { big: { nested: [1, null] } }, history: [{ role: 'ROLE_USER' }] });
    if (streaming) {
      expect(artifacts.map(({ artifact }) => artifact.parts)).toEqual([PARTS, PARTS]);
      expect(artifacts[1]).toMatchObject({ append: true, lastChunk: true });
      expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
    } else {
      expect(tasks).toHaveLength(events.length);
      expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
      expect(task?.artifacts?.[0]?.parts).toEqual([...PARTS, ...PARTS]);
    }
    expect((await client.getTask(task?.id ?? '')).artifacts?.[0]?.parts).toEqual([...PARTS, ...PARTS]);
  });

  it('gives a direct Message', async () => {
    expect(await send([{ text: 'direct' }])).toMatchObject([
      { message: { messageId: 'direct', role: 'ROLE_AGENT', parts: [{ text: 'direct' }] } },
    ]);
  });

  it('asks back, and goes on with the same Task', async () => {
    const [first] = await send([{ text: 'ask' }]);
    const taskId = first !== undefined && 'task' in first ? first.task.id : '';
    expect((await client.getTask(taskId)).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await send([{ text: 'go on' }], taskId);
    expect((await client.getTask(taskId)).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('says what became of a Task that does not exist, or has ended', async () => {
    const failure = { kind: 'not-found', code: -32001 };
    await expect(client.getTask('nope')).rejects.toMatchObject(failure);
    expect(await client.cancelTask('nope')).toBe('refused');
    const sent = send([{ text: 'again' }], 'nope');
    await expect(sent).rejects.toMatchObject(failure);
  });

  it('is refused with the words of the server where the Task has ended', async () => {
    const [first] = await send([{ text: 'once' }]);
    const taskId = first !== undefined && 'task' in first ? first.task.id : '';
    await expect(send([{ text: 'again' }], taskId)).rejects.toMatchObject({
      kind: 'rpc-error',
      message: expect.stringMatching(/^a2a error -32\d{3}: .*terminal/),
    });
    expect(await client.cancelTask(taskId)).toBe('refused');
  });

  if (streaming)
    it('cancels a Task that another reader follows', async () => {
      const events = client.sendMessage({ message: userMessage('wait') })[Symbol.asyncIterator]();
      const first = (await events.next()).value as StreamResponse;
      const taskId = 'task' in first ? first.task.id : '';
      const followed = client.followTask(taskId)[Symbol.asyncIterator]();
      expect((await followed.next()).value).toMatchObject({ task: { id: taskId } });
      expect(await client.cancelTask(taskId)).toBe('acknowledged');
      const last = async (iterator: AsyncIterator<StreamResponse>): Promise<unknown> => {
        let value: unknown;
        for (let next = await iterator.next(); !next.done; next = await iterator.next()) value = next.value;
        return value;
      };
      const canceled = { statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } };
      expect(await last(followed)).toMatchObject(canceled);
      expect(await last(events)).toMatchObject(canceled);
    });
});
