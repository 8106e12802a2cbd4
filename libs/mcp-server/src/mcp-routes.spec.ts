import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { A2AError, type JsonObject } from '#libs/protocol';
import { type McpRoutes, registerMcpRoutes } from './mcp-routes.js';
import { FakeRun } from './testing/fake-run.js';

const META = 'io.modelcontextprotocol/';
const TASKS = { extensions: { [`${META}tasks`]: {} } };

let server: FastifyInstance;
let routes: McpRoutes;

async function serve(run: FakeRun): Promise<void> {
  server = fastify({ forceCloseConnections: true });
  routes = registerMcpRoutes(server, { ...run.backend, address: { publicBaseUrl: () => 'http://parley.test' } });
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
