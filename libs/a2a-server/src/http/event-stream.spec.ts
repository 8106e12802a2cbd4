import type { AddressInfo } from 'node:net';
import { statusUpdate, submittedTask, userMessage } from '#libs/protocol';
import { capturedLog } from '../testing/captured-log.js';
import { type FakeServer, fakeServer } from '../testing/fake-server.js';
import { taskHeader } from '../testing/memory-task-store.js';

let server: FakeServer;
let url: string;

beforeEach(async () => {
  server = fakeServer();
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}/a2a`;
});

afterEach(async () => {
  server.routes.endStreams();
  await server.app.close();
});

const reference = { taskId: 'live', contextId: 'c' };

function startTask(): void {
  server.record('live', { task: submittedTask(reference, userMessage('x')) }, taskHeader(reference));
}

function subscribe(signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/tasks/live:subscribe`, { headers: { 'a2a-version': '1.0' }, signal });
}

async function readUntil(body: ReadableStreamDefaultReader<Uint8Array>, text: string): Promise<void> {
  let seen = '';
  while (!seen.includes(text)) {
    const { value, done } = await body.read();
    if (done) throw new Error(`The stream ended without ${text}: ${seen}`);
    seen += Buffer.from(value).toString();
  }
}

describe('event streams over a socket', () => {
  it('go on live for one reader when another leaves', async () => {
    startTask();
    const leaving = new AbortController();
    const [first, second] = await Promise.all([subscribe(leaving.signal), subscribe()]);
    const reader = (second.body as ReadableStream<Uint8Array>).getReader();
    await readUntil(reader, 'id: 1');
    leaving.abort();
    await expect(first.text()).rejects.toThrow();
    server.record('live', statusUpdate(reference, 'TASK_STATE_WORKING'));
    await readUntil(reader, 'id: 2');
    server.record('live', statusUpdate(reference, 'TASK_STATE_COMPLETED'));
    await readUntil(reader, 'id: 3');
    expect((await reader.read()).done).toBe(true);
  });

  it('end with a shutdown while the task goes on', async () => {
    startTask();
    const reader = ((await subscribe()).body as ReadableStream<Uint8Array>).getReader();
    await readUntil(reader, 'id: 1');
    server.routes.endStreams();
    expect((await reader.read()).done).toBe(true);
    expect((await server.store.readHeader('live'))?.state).toBe('TASK_STATE_SUBMITTED');
  });

  it('tell an error that comes up later as an event, without its cause', async () => {
    const log = capturedLog();
    server.handler.subscribeToTask = async function* () {
      yield { sequence: 1, json: '{"task":{}}', response: { task: submittedTask(reference, userMessage('x')) } };
      throw new Error('password=hunter2');
    };
    const text = await (await subscribe()).text();
    expect(text).toContain('event: error\ndata: {"error":{"code":500,"status":"INTERNAL","message":"Internal error"');
    expect(text).not.toContain('hunter2');
    expect(log).toHaveLength(1);
  });
});
