import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import fastify, { type FastifyInstance } from 'fastify';
import { A2AError, type JsonObject } from '#libs/protocol';
import { type McpRoutes, type McpRoutesOptions, registerMcpRoutes } from './mcp-routes.js';
import { FakeRun } from './testing/fake-run.js';

const META = 'io.modelcontextprotocol/';
const TASKS = { extensions: { [`${META}tasks`]: {} } };

let server: FastifyInstance;
let routes: McpRoutes;

async function serve(run: FakeRun, options: Partial<McpRoutesOptions> = {}): Promise<void> {
  server = fastify({ forceCloseConnections: true });
  const address = { publicBaseUrl: () => 'http://parley.test' };
  routes = registerMcpRoutes(server, { ...run.backend, address, ...options });
  await server.listen({ port: 0, host: '127.0.0.1' });
}

afterEach(() => server.close());

function ask(method: string, params: JsonObject = {}, capabilities: JsonObject = {}): Promise<Response> {
  const _meta = {
    [`${META}protocolVersion`]: '2026-07-28',
    [`${META}clientInfo`]: { name: 'test', version: '1' },
    [`${META}clientCapabilities`]: capabilities,
    ...(params['_meta'] as JsonObject | undefined),
  };
  return fetch(`http://127.0.0.1:${(server.server.address() as AddressInfo).port}/mcp`, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params['name'] === 'string' && { 'mcp-name': params['name'] }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
}

/** Reads a response until it contains a text. @returns the function that reads the rest */
async function saying(response: Response, text: string): Promise<() => Promise<string>> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const read = async (until: string | undefined): Promise<string> => {
    for (let seen = ''; ;) {
      const { value, done } = await reader.read();
      if (done) return seen;
      seen += Buffer.from(value).toString();
      if (until !== undefined && seen.includes(until)) return seen;
    }
  };
  expect(await read(text)).toContain(text);
  return () => read(undefined);
}

describe('a call that takes long', () => {
  const WORKING = 'TASK_STATE_WORKING';

  afterEach(() => void jest.useRealTimers());

  it('reports its progress every 15 seconds until it ends', async () => {
    const run = new FakeRun().becomes(WORKING);
    await serve(run);
    const realTimers = { setTimeout, clearTimeout, setImmediate, clearImmediate };
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'performance', 'Date'] });
    Object.assign(globalThis, realTimers);
    const response = await ask('tools/call', { name: 'w', _meta: { progressToken: 1 } });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const seen: string[] = [];
    const readUntil = async (text: string): Promise<void> => {
      while (!seen.join('').includes(text)) seen.push((await reader.read()).value ?? text);
    };
    await readUntil('"progress":2');
    jest.advanceTimersByTime(15_000);
    await readUntil('"progress":2.01');
    jest.advanceTimersByTime(15_000);
    await readUntil('"progress":2.02');
    run.becomes('TASK_STATE_COMPLETED');
    await readUntil('"result"');
    expect(seen.join('')).toContain('It is TASK_STATE_COMPLETED');
  });

  it('is answered by a stream where its client has asked for no progress', async () => {
    const run = new FakeRun().becomes(WORKING);
    await serve(run, { streamAfterMs: 0 });
    const response = await ask('tools/call', { name: 'w' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const rest = await saying(response, ': \n\n');
    run.becomes('TASK_STATE_COMPLETED');
    const [, data = ''] = /^event: message\ndata: (.*)\n\n$/m.exec(await rest()) ?? [];
    expect(JSON.parse(data)).toMatchObject({ id: 1, result: { content: [{ text: 'It is TASK_STATE_COMPLETED' }] } });
  });
});

it('finds the task of a request without Mcp-Name in its body (fastmcp)', async () => {
  await serve(new FakeRun().becomes('TASK_STATE_WORKING'));
  const response = await ask('tasks/get', { taskId: 't' }, TASKS);
  expect(await response.json()).toMatchObject({ result: { taskId: 't' } });
});

it.each([undefined, 'application/json'])('answers DELETE with 405 (content type: %s)', async (contentType) => {
  await serve(new FakeRun());
  const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}/mcp`;
  const response = await fetch(url, { method: 'DELETE', headers: contentType ? { 'content-type': contentType } : {} });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
});

describe('a shutdown', () => {
  const call = { name: 'w', _meta: { progressToken: 1 } };

  it('gives a client that knows tasks the task, and tells any other that the run goes on', async () => {
    for (const [capabilities, answer] of [
      [TASKS, '"resultType":"task"'],
      [{}, 'the run t goes on'],
    ] as const) {
      const run = new FakeRun().becomes('TASK_STATE_WORKING');
      await serve(run);
      const rest = await saying(await ask('tools/call', call, capabilities), 'It is TASK_STATE_WORKING');
      routes.endStreams();
      expect(await rest()).toContain(answer);
      await server.close();
    }
  });

  it('ends what has no end of its own', async () => {
    await serve(new FakeRun());
    const rest = await saying(await ask('subscriptions/listen', { notifications: {} }), 'acknowledged');
    routes.endStreams();
    await rest();
  });
});

it('is 503 where nothing can be looked up at the moment', async () => {
  const away = new A2AError('INTERNAL', { message: 'The database is out of reach', status: 503 });
  await serve(new FakeRun(away));
  const response = await ask('tools/list');
  expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([
    503,
    '1',
    { jsonrpc: '2.0', id: 1, error: expect.objectContaining({ code: -32603, message: away.message }) },
  ]);
});
