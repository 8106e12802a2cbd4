import { Logger } from '@nestjs/common';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { RequestSigners } from '#libs/a2a-client';
import { OutboundHttp } from '#libs/http-client';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { loadConfig, type Shutdown } from '#libs/service';
import {
  type McpEra,
  type RawMcpAnswer,
  type RawMcpRequest,
  RawMcpServer,
  sendMcp,
} from '../../../../test/support/raw-mcp-server.js';
import { until } from '../../../../test/support/until.js';
import { callResult, type McpToolResult } from '../mcp-tools.js';
import type { McpServer } from '../servers/mcp-servers.js';
import { failureText } from './failure-text.js';
import type { McpConnection } from './mcp-connection.js';
import { McpConnections } from './mcp-connections.js';
import { SESSION_TIMES } from './mcp-session.js';

const NEVER = new AbortController().signal;
const SUPPORT = join(import.meta.dirname, '../../../../test/support');
const shutdown = { registerStep: () => undefined } as unknown as Shutdown;
const folder = mkdtempSync(join(tmpdir(), 'mcp-answers-'));
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
beforeAll(() => Logger.overrideLogger(false));
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const tool = (name: string, more: JsonObject = {}): JsonObject => ({ name, inputSchema: { type: 'object' }, ...more });

function connectionTo(server: McpServer, times = SESSION_TIMES): McpConnection {
  const config = loadConfig({});
  const http = new OutboundHttp(config);
  const made = new McpConnections(config, http, {} as RequestSigners, shutdown, times);
  ends.push(
    () => http.close(),
    () => made.close(),
  );
  return made.connectionFor('', server);
}

async function raw(era: McpEra, times = SESSION_TIMES) {
  const server = await RawMcpServer.start(era);
  ends.push(() => server.stop());
  return { server, connection: connectionTo({ name: 'raw', source: 'api', at: { url: server.url } }, times) };
}

const failureOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    (value) => `no failure: ${JSON.stringify(value)}`,
    (error: unknown) => failureText(error),
  );

async function call(connection: McpConnection, name: string): Promise<McpToolResult> {
  const { tools } = await connection.listTools(NEVER);
  return callResult(
    await connection.callServerTool(
      tools.find((it) => it.name === name)!,
      {},
      { signal: NEVER },
    ),
  );
}

describe.each<McpEra>(['modern', 'legacy'])('a list of tools from a server of the %s era', (era) => {
  const page = (count: number, length: number): JsonObject[] =>
    Array.from({ length: count }, (_, it) => tool(`t${it}`, { description: 'x'.repeat(length) }));

  it.each<[string, JsonObject[], RegExp, number]>([
    ['15 MB each', page(1, 15_000_000), /^the answer is longer than 8388608 bytes$/, 1],
    ['100 kB each', page(1, 100_000), /^describes its tools with more than 2097152 characters$/, 21],
    ['1,001 tools', page(1_001, 1), /^has more than 1000 tools$/, 1],
    ['no tools', [], /^its list of tools has more than 64 pages without tools$/, 64],
  ])('whose pages have %s and no end is refused in a sentence', async (_, tools, text, pages) => {
    const { server, connection } = await raw(era);
    server.answer = ({ params }) => ({ tools, nextCursor: `${Number(params['cursor'] ?? 0) + 1}` });
    expect(await failureOf(connection.listTools(NEVER))).toMatch(text);
    expect(server.count('tools/list')).toBe(pages);
  });

  it('is read to its end where each of more than 64 pages has one tool', async () => {
    const { server, connection } = await raw(era);
    server.answer = ({ params }) => {
      const at = Number(params['cursor'] ?? 0);
      return { tools: [tool(`t${at}`)], ...(at < 69 && { nextCursor: `${at + 1}` }) };
    };
    expect((await connection.listTools(NEVER)).tools).toHaveLength(70);
  });

  it.each<[string, JsonObject, RegExp]>([
    ['64 KiB', { instructions: 'x'.repeat(64 * 1024) }, /^the answer is longer than 65536 bytes$/],
    [
      '1,000 members',
      { capabilities: { tools: {}, experimental: { a: Array(1_000).fill(0) } } },
      /^the answer has more than 1000 members/,
    ],
  ])('is not asked for where the server says more of itself than %s', async (_, more, text) => {
    const { server, connection } = await raw(era);
    server.more = more;
    expect(await failureOf(connection.listTools(NEVER))).toMatch(text);
    expect(server.count('tools/list')).toBe(0);
  });

  it('with a cursor of a megabyte is refused, and the cursor is not sent back', async () => {
    const { server, connection } = await raw(era);
    server.answer = () => ({ tools: [tool('a')], nextCursor: 'x'.repeat(1_000_000) });
    expect(await failureOf(connection.listTools(NEVER))).toBe('a cursor of its list has more than 4096 characters');
    expect(server.count('tools/list')).toBe(1);
  });

  it('is not read on once its last reader has left, and is read by the others until then', async () => {
    const { server, connection } = await raw(era);
    const asked = Promise.withResolvers<void>();
    let release = (): void => undefined;
    const listed = (request: RawMcpRequest) => (response: ServerResponse) => {
      release = () => sendMcp(response, request, { result: { resultType: 'complete', tools: [], nextCursor: 'next' } });
      asked.resolve();
    };
    server.answer = (request) => (request.method === 'tools/list' ? listed(request) : {});
    const readers = [new AbortController(), new AbortController()];
    const failures = readers.map(({ signal }) => failureOf(connection.listTools(signal)));
    await asked.promise;
    readers[0]!.abort(new Error('left'));
    await failures[0];
    release();
    await until(() => server.count('tools/list') === 2);
    readers[1]!.abort(new Error('left'));
    await failures[1];
    release();
    server.answer = () => ({ tools: [tool('late')] });
    expect((await connection.listTools(NEVER)).tools).toMatchObject([{ name: 'late' }]);
    expect(server.count('tools/list')).toBe(3);
  });

  it('is asked for once at a time, however many ask, and again for those who came meanwhile', async () => {
    const { server, connection } = await raw(era);
    let [open, most] = [0, 0];
    const listed = (request: RawMcpRequest) => (response: ServerResponse) => {
      most = Math.max(most, (open += 1));
      setTimeout(() => {
        open -= 1;
        sendMcp(response, request, { result: { resultType: 'complete', tools: [] } });
      }, 20);
    };
    server.answer = (request) => (request.method === 'tools/list' ? listed(request) : {});
    await Promise.all(Array.from({ length: 20 }, () => connection.listTools(NEVER, { refresh: true })));
    expect([most, server.count('tools/list')]).toEqual([1, 2]);
    const first = connection.listTools(NEVER, { refresh: true });
    await until(() => server.count('tools/list') === 3);
    await Promise.all([first, ...Array.from({ length: 20 }, () => connection.listTools(NEVER, { refresh: true }))]);
    expect([most, server.count('tools/list')]).toEqual([1, 4]);
  });

  it('has its good tools, and names the others, also on a later page and with nulls around', async () => {
    const { server, connection } = await raw(era);
    const odd: JsonValue[] = [null, 7, tool('b', { title: null, annotations: 7 }), { name: 'broken' }];
    server.answer = ({ method, params }): RawMcpAnswer => {
      if (method === 'tools/call')
        return { content: [{ type: 'text', text: `I am ${JSON.stringify(params['name'])}` }] };
      return params['cursor'] === 'next'
        ? { tools: [...odd, tool('New Tool')], nextCursor: null, ttlMs: null, _meta: null }
        : { tools: [tool('a')], nextCursor: 'next' };
    };
    const { tools, skipped } = await connection.listTools(NEVER);
    expect(tools.map(({ name }) => name)).toEqual(['New_Tool', 'a', 'b']);
    expect(skipped).toEqual([
      { name: '', reason: 'is not an object' },
      { name: '', reason: 'is not an object' },
      { name: 'broken', reason: 'has no inputSchema that is an object' },
    ]);
    expect(await call(connection, 'b')).toEqual({ result: 'I am "b"' });
    expect(await call(connection, 'New_Tool')).toEqual({ result: 'I am "New Tool"' });
  });

  it.each<[string, JsonObject, McpToolResult]>([
    ['null', { structuredContent: null, isError: null, _meta: null }, { result: 'hi' }],
    [
      'a block of a kind that nobody knows',
      {
        content: [
          { type: 'text', text: 'hi' },
          { type: 'video', of: 'x' },
        ],
      },
      { result: 'hi\n[video of 25 bytes left out]' },
    ],
    [
      'annotations that are null',
      { content: [{ type: 'text', text: 'hi', annotations: null, _meta: null }] },
      { result: 'hi' },
    ],
    ['no content', { content: null, structuredContent: [1] }, { result: [1] }],
    [
      'an error in its data',
      { content: [], isError: true, structuredContent: { error: { code: 'E42' } } },
      { error: '{"error":{"code":"E42"}}' },
    ],
  ])('has a tool whose result has %s: it is understood, as JSON and as an event', async (_, members, expected) => {
    const { server, connection } = await raw(era);
    const result = { content: [{ type: 'text', text: 'hi' }], ...members };
    server.answer = ({ method }) => (method === 'tools/list' ? { tools: [tool('a')] } : result);
    expect(await call(connection, 'a')).toEqual(expected);
    server.answer =
      ({ id }) =>
      (response) => {
        const message = { jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } };
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
      };
    expect(await call(connection, 'a')).toEqual(expected);
  });

  it('that takes a request with HTTP 202 fails it at once, and a notification may be taken so', async () => {
    const { server, connection } = await raw(era);
    server.answer = ({ method }) =>
      method === 'tools/list' ? { tools: [tool('a')] } : (response) => void response.writeHead(202).end();
    await connection.listTools(NEVER);
    expect(await failureOf(call(connection, 'a'))).toBe('HTTP 202: it accepted a request without answering it');
  });
});

it.each(['mcp-stdio-server.mjs', 'mcp-stdio-server-v1.mjs'])(
  'offers the good tools of the program %s',
  async (script) => {
    const file = join(folder, `${script}.json`);
    writeFileSync(file, JSON.stringify({ odd: { inputSchema: null }, 'my echo': { description: null } }));
    const at = { command: process.execPath, args: [join(SUPPORT, script)], env: { MCP_TOOLS: file } };
    const connection = connectionTo({ name: 'program', source: 'file', at });
    const { tools, skipped } = await connection.listTools(NEVER);
    expect(skipped).toEqual([{ name: 'odd', reason: 'has no inputSchema that is an object' }]);
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'my_echo']));
    expect(await call(connection, 'my_echo')).toEqual({ result: 'my echo done' });
  },
);

describe('a server that streams', () => {
  it.each([
    ['ends at once and asks for no delay', 'id: 1\nretry: 0\ndata:\n\n', 200],
    ['answers with an error', '', 500],
  ])('and whose stream %s is asked again at the pace of Parley', async (_, events, status) => {
    const { server, connection } = await raw('legacy');
    server.answer = ({ method }): RawMcpAnswer => {
      if (method !== 'GET') return { tools: [] };
      return (response) => void response.writeHead(status, { 'content-type': 'text/event-stream' }).end(events);
    };
    await connection.listTools(NEVER);
    await until(() => server.count('GET') === 1);
    await delay(500);
    // Without a pace of its own there are two hundred. A slow machine has less.
    expect(server.count('GET')).toBe(1);
  });

  it('and asks without end on its stream is answered up to a number', async () => {
    const { server, connection } = await raw('legacy');
    const ping = (id: number): string => `data: {"jsonrpc":"2.0","id":"p${id}","method":"ping"}\n\n`;
    const changed = 'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'.repeat(2_000);
    server.answer = ({ method }): RawMcpAnswer => {
      if (method === 'tools/list') return { tools: [tool('a')] };
      if (method !== 'GET') return { content: [{ type: 'text', text: 'served' }] };
      return (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(Array.from({ length: 2_000 }, (_, it) => ping(it)).join('') + changed);
      };
    };
    await connection.listTools(NEVER);
    await until(() => server.count('answer') === 60);
    expect(await call(connection, 'a')).toEqual({ result: 'served' });
    expect(server.count('answer')).toBe(60);
    expect(server.count('tools/list')).toBeLessThan(5);
  });
});
