import { Logger } from '@nestjs/common';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestSigners } from '#libs/a2a-client';
import { OutboundHttp } from '#libs/http-client';
import type { JsonObject } from '#libs/protocol';
import { loadConfig, type Shutdown } from '#libs/service';
import { McpHttpServer } from '../../../../test/support/mcp-http-server.js';
import { until } from '../../../../test/support/until.js';
import { callResult } from '../mcp-tools.js';
import { listOf, type McpToolDefinition } from '../pins/tool-listing.js';
import type { McpServer } from '../servers/mcp-servers.js';
import { FakeSigners } from '../testing/fake-signers.js';
import { failureText } from './failure-text.js';
import { McpConnections } from './mcp-connections.js';
import { SESSION_TIMES } from './mcp-session.js';

const SUPPORT = join(import.meta.dirname, '../../../../test/support');
const HARMLESS = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];
const NEVER = new AbortController().signal;
const noSigners = {} as RequestSigners;
const shutdown = { registerStep: () => undefined } as unknown as Shutdown;

beforeAll(() => Logger.overrideLogger(false));
const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

let files = 0;
const newFile = (): string => join(folder, `file-${(files += 1)}`);
const linesOf = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);

/** Creates the connections under test. @param times time limits, which a test may still change in this object later */
function connections(times: Partial<typeof SESSION_TIMES> = {}, signers = noSigners): McpConnections {
  const config = loadConfig({});
  const http = new OutboundHttp(config);
  const made = new McpConnections(
    config,
    http,
    signers,
    shutdown,
    Object.assign(times, { ...SESSION_TIMES, ...times }),
  );
  ends.push(
    () => http.close(),
    () => made.close(),
  );
  return made;
}

async function http(era: 'both' | 'legacy' = 'both'): Promise<McpHttpServer> {
  const server = await McpHttpServer.start(era);
  ends.push(() => server.stop());
  return server;
}

const endpoint = (url: string): McpServer => ({ name: 'remote', source: 'api', at: { url } });
function program(env: Record<string, string>, script = 'mcp-stdio-server.mjs'): McpServer {
  return { name: 'program', source: 'file', at: { command: process.execPath, args: [join(SUPPORT, script)], env } };
}

type Connection = ReturnType<McpConnections['connectionFor']>;

async function toolOf(connection: Connection, name: string): Promise<McpToolDefinition> {
  const { tools } = await connection.listTools(NEVER);
  const found = tools.find((it) => it.name === name);
  if (!found) throw new Error(`There is no ${name} among ${JSON.stringify(tools)}`);
  return found;
}

async function call(connection: Connection, name: string, args: JsonObject = {}, signal = NEVER) {
  return callResult(await connection.callServerTool(await toolOf(connection, name), args, { signal }));
}

const failureOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    (value) => `no failure: ${JSON.stringify(value)}`,
    (error: unknown) => failureText(error),
  );

describe.each(['both', 'legacy'] as const)('over HTTP, a server of the era "%s"', (era) => {
  it('lists and calls its tools', async () => {
    const server = await http(era);
    const connection = connections().connectionFor('', endpoint(server.url));
    const { tools } = await connection.listTools(NEVER);
    const hints = { annotations: { readOnlyHint: true } };
    expect(tools).toEqual([
      { name: 'echo', description: 'Says what it is told', inputSchema: { type: 'object' }, ...hints },
    ]);
    expect(await call(connection, 'echo', { text: 'hello' })).toEqual({ result: 'hello' });
    expect(server.calls).toHaveLength(1);
  });

  it('is told of the trace', async () => {
    const server = await http(era);
    const connection = connections().connectionFor('', endpoint(server.url));
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    await connection.callServerTool(await toolOf(connection, 'echo'), {}, { signal: NEVER, trace });
    expect(server.calls[0]!.meta).toMatchObject(trace);
  });

  it('learns of a cancel', async () => {
    const server = await http(era);
    server.tools = [{ name: 'hang', call: () => new Promise(() => undefined) }];
    const connection = connections().connectionFor('', endpoint(server.url));
    const canceled = new AbortController();
    const calling = call(connection, 'hang', {}, canceled.signal);
    await until(() => server.calls.length === 1);
    canceled.abort(new Error('canceled by the test'));
    await expect(calling).rejects.toThrow('canceled by the test');
    await until(() => server.calls[0]!.signal.aborted);
  });

  it('that hangs is given up, and answers the next call', async () => {
    const server = await http(era);
    server.tools = [{ name: 'hang', call: () => new Promise(() => undefined) }, { name: 'echo' }];
    const times = { call: 300 };
    const connection = connections(times).connectionFor('', endpoint(server.url));
    expect(await failureOf(call(connection, 'hang'))).toBe('timeout: no answer in time');
    times.call = SESSION_TIMES.call;
    expect(await call(connection, 'echo')).toEqual({ result: 'echo' });
  });

  it('that ends in the middle of a call fails it, and is called again when it is back', async () => {
    const server = await http(era);
    server.tools = [
      {
        name: 'end',
        call: () => {
          server.instead = (_request, response) => (response.socket?.destroy(), true);
          server.cut();
          return new Promise(() => undefined);
        },
      },
      { name: 'echo' },
    ];
    const connection = connections().connectionFor('', endpoint(server.url));
    const echo = await toolOf(connection, 'echo');
    expect(await failureOf(call(connection, 'end'))).toMatch(/connection/);
    await server.forget();
    server.instead = () => false;
    expect(await connection.callServerTool(echo, {}, { signal: NEVER })).toMatchObject({
      content: [{ type: 'text', text: 'echo' }],
    });
  });

  it('answers with ten megabytes: they are cut', async () => {
    const server = await http(era);
    server.tools = [{ name: 'big', call: () => ({ content: [{ type: 'text', text: 'x'.repeat(10_000_000) }] }) }];
    const answered = await call(connections().connectionFor('', endpoint(server.url)), 'big');
    expect(answered).toEqual({ result: expect.any(String), truncated: true });
    expect((answered as { result: string }).result).toHaveLength(256 * 1024 - 2);
  });

  it.each([
    [
      'bytes',
      { content: [{ type: 'text', text: 'x'.repeat(17 * 1024 * 1024) }] },
      /^the answer is longer than 16777216 bytes$/,
    ],
    [
      'members',
      { structuredContent: { list: Array.from({ length: 60_000 }, () => 1) } },
      /has more than 50000 members/,
    ],
  ])('answers with too many %s: the call fails', async (_, answer, text) => {
    const server = await http(era);
    server.tools = [{ name: 'flood', call: () => ({ content: [], ...answer }) as JsonObject }];
    expect(await failureOf(call(connections().connectionFor('', endpoint(server.url)), 'flood'))).toMatch(text);
  });

  it('is known by what it lists after half a minute, or at once when it is looked at', async () => {
    const server = await http(era);
    const connection = connections().connectionFor('', endpoint(server.url));
    await connection.listTools(NEVER);
    server.tools = [{ name: 'other' }];
    expect((await connection.listTools(NEVER)).tools.map((it) => it.name)).toEqual(['echo']);
    expect((await connection.listTools(NEVER, { refresh: true })).tools.map((it) => it.name)).toEqual(['other']);
  });
});

describe('over HTTP', () => {
  it('a session that the server has forgotten is opened anew', async () => {
    const server = await http('legacy');
    const connection = connections().connectionFor('', endpoint(server.url));
    await call(connection, 'echo');
    await server.forget();
    expect(await call(connection, 'echo', { text: 'again' })).toEqual({ result: 'again' });
  });

  it.each([
    ['nobody listens', 'http://127.0.0.1:1/mcp', /^no connection \(ECONNREFUSED\)$/],
    ['a metadata address', 'http://169.254.169.254/mcp', /^the address may not be called$/],
    ['a private address', 'http://10.0.0.1/mcp', /^the address may not be called$/],
  ])('%s', async (_, url, text) => {
    expect(await failureOf(connections().connectionFor('', endpoint(url)).listTools(NEVER))).toMatch(text);
  });

  it.each([301, 302, 303, 307, 308])('a redirect to a metadata address is not followed (%d)', async (status) => {
    const server = await http();
    const elsewhere = await http();
    for (const location of ['http://169.254.169.254/latest/meta-data', elsewhere.url]) {
      server.instead = (_request, response) => {
        response.writeHead(status, { location }).end();
        return true;
      };
      expect(await failureOf(connections().connectionFor('', endpoint(server.url)).listTools(NEVER))).toBe(
        `HTTP ${status}`,
      );
    }
    expect(elsewhere.requests).toEqual([]);
  });

  it.each([
    [500, /^HTTP 500$/],
    [401, /^HTTP 401: the server rejects the credential of the call$/],
    [403, /^HTTP 403: the server forbids the call$/],
    [200, /^its answer is not MCP$/],
  ])('HTTP %d', async (status, text) => {
    const server = await http();
    server.instead = (_request, response) => {
      response.writeHead(status, { 'content-type': 'text/html' }).end('<p>secret internals</p>');
      return true;
    };
    expect(await failureOf(connections().connectionFor('', endpoint(server.url)).listTools(NEVER))).toMatch(text);
  });

  it('no answer has the proof that a call carried, also where it was renewed', async () => {
    const server = await http();
    const signers = new FakeSigners();
    server.tools = [
      { name: 'quote', call: () => ({ content: [{ type: 'text', text: `you sent ${signers.token}` }] }) },
      { name: 'refuse', call: () => Promise.reject(new Error(`not with ${signers.token}`)) },
    ];
    server.tools[0]!.description = `for ${signers.token}`;
    const at = { url: server.url, auth: 'key' };
    const connection = connections({}, signers).connectionFor('', { ...endpoint(server.url), at });
    expect((await toolOf(connection, 'quote')).description).toBe('for [secret]');
    const quoted = { result: 'you sent [secret]' };
    expect(await call(connection, 'quote')).toEqual(quoted);
    expect(await failureOf(call(connection, 'refuse'))).not.toContain(signers.token);
    const old = signers.token;
    server.instead = ({ headers }, response) =>
      headers.authorization === `Bearer ${old}` && (response.writeHead(401).end(), true);
    expect(await call(connection, 'quote')).toEqual(quoted);
    expect(signers.token).not.toBe(old);
  });

  it('a server that does not answer is given up', async () => {
    const server = await http();
    server.instead = () => true;
    const connection = connections({ connect: 300 }).connectionFor('', endpoint(server.url));
    expect(await failureOf(connection.listTools(NEVER))).toMatch(/^timeout/);
  });

  it('a server that lists without end is given up', async () => {
    const server = await http();
    server.pages = true;
    expect(await failureOf(connections().connectionFor('', endpoint(server.url)).listTools(NEVER))).toBe(
      'has more than 1000 tools',
    );
  });
});

describe.each(['mcp-stdio-server.mjs', 'mcp-stdio-server-v1.mjs'])('a program, %s', (script) => {
  it('is started once, whoever calls it, and lists and calls its tools', async () => {
    const MCP_STARTS = newFile();
    const pool = connections();
    const server = program({ MCP_STARTS }, script);
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((it) => call(pool.connectionFor(it, server), 'echo', { text: it })),
    );
    expect(answers).toEqual([{ result: 'a' }, { result: 'b' }, { result: 'c' }]);
    expect(await call(pool.connectionFor('', server), 'add', { a: 1, b: 2 })).toEqual({ result: { sum: 3 } });
    expect(await call(pool.connectionFor('', server), 'fail')).toEqual({ error: 'there is no such thing' });
    expect(linesOf(MCP_STARTS)).toHaveLength(1);
  });

  it('has no variables of ours but harmless ones', async () => {
    process.env.SECRET_OF_THE_SERVICE = 'secret';
    const connection = connections().connectionFor('', program({ OWN: '1' }, script));
    const { result } = (await call(connection, 'environment')) as { result: string };
    delete process.env.SECRET_OF_THE_SERVICE;
    const names = result.split(',').filter((it) => !HARMLESS.includes(it));
    expect(names).toEqual(['OWN']);
  });

  it('that is killed in the middle of a call fails it, and is started again for the next', async () => {
    const [MCP_STARTS, MCP_CALLS] = [newFile(), newFile()];
    const connection = connections().connectionFor('', program({ MCP_STARTS, MCP_CALLS }, script));
    const hanging = failureOf(call(connection, 'hang'));
    await until(() => linesOf(MCP_CALLS).length === 1);
    process.kill(Number(linesOf(MCP_STARTS)[0]), 'SIGKILL');
    expect(await hanging).toBe('its connection has ended');
    expect(await call(connection, 'echo', { text: 'back' })).toEqual({ result: 'back' });
    expect(linesOf(MCP_STARTS)).toHaveLength(2);
  });

  it('learns of a cancel', async () => {
    const MCP_CALLS = newFile();
    const connection = connections().connectionFor('', program({ MCP_CALLS }, script));
    const canceled = new AbortController();
    const calling = call(connection, 'hang', {}, canceled.signal);
    await until(() => linesOf(MCP_CALLS).length === 1);
    canceled.abort(new Error('canceled by the test'));
    await expect(calling).rejects.toThrow('canceled by the test');
    await until(() => linesOf(MCP_CALLS).some((it) => it.includes('aborted')));
  });

  it('answers with ten megabytes: they are cut; with more it is ended', async () => {
    const connection = connections().connectionFor('', program({}, script));
    expect(await call(connection, 'big', { characters: 10_000_000 })).toMatchObject({ truncated: true });
    expect(await failureOf(call(connection, 'big', { characters: 20_000_000 }))).toBe('its connection has ended');
    expect(await call(connection, 'echo')).toEqual({ result: 'echo done' });
  });

  it('ends with the pool', async () => {
    const MCP_STARTS = newFile();
    const pool = connections();
    await call(pool.connectionFor('', program({ MCP_STARTS }, script)), 'echo');
    await pool.close();
    await until(() => !isAlive(Number(linesOf(MCP_STARTS)[0])));
    expect(() => pool.connectionFor('', program({}, script))).toThrow('the service is about to end');
  });
});

describe('a program', () => {
  it('that ends at a question it does not know is started again without it', async () => {
    const MCP_STARTS = newFile();
    const strict = program({ MCP_STARTS, MCP_STRICT: '1' }, 'mcp-stdio-server-v1.mjs');
    const connection = connections().connectionFor('', strict);
    expect(await call(connection, 'echo', { text: 'old' })).toEqual({ result: 'old' });
    expect(linesOf(MCP_STARTS)).toHaveLength(2);
    process.kill(Number(linesOf(MCP_STARTS)[1]), 'SIGKILL');
    await until(() => !isAlive(Number(linesOf(MCP_STARTS)[1])));
    await until(async () => (await failureOf(call(connection, 'echo'))).startsWith('no failure'));
    expect(linesOf(MCP_STARTS)).toHaveLength(3);
  });

  it.each([
    ['that is not there', { command: '/nowhere/at-all', args: [], env: {} }, 'it cannot be started (ENOENT)'],
    ['that ends at once', { command: process.execPath, args: ['-e', ''], env: {} }, 'its connection has ended'],
  ])('%s', async (_, at, text) => {
    const connection = connections().connectionFor('', { name: 'broken', source: 'file', at });
    expect(await failureOf(connection.listTools(NEVER))).toBe(text);
  });

  it('that does not start is left alone for a while, and fails meanwhile as it did', async () => {
    const MCP_STARTS = newFile();
    const note = `require('fs').appendFileSync(process.env.MCP_STARTS, 'x\\n')`;
    const at = { command: process.execPath, args: ['-e', note], env: { MCP_STARTS } };
    const connection = connections().connectionFor('', { name: 'broken', source: 'file', at });
    await failureOf(connection.listTools(NEVER));
    const starts = linesOf(MCP_STARTS).length;
    expect(await failureOf(connection.listTools(NEVER))).toBe('its connection has ended');
    expect(linesOf(MCP_STARTS)).toHaveLength(starts);
  });

  it('that floods its standard error is not held up', async () => {
    const flood = `process.stderr.write('x'.repeat(3_000_000)); await import(${JSON.stringify(join(SUPPORT, 'mcp-stdio-server.mjs'))})`;
    const at = { command: process.execPath, args: ['--input-type=module', '-e', flood], env: {} };
    const connection = connections().connectionFor('', { name: 'loud', source: 'file', at });
    expect(await call(connection, 'echo')).toEqual({ result: 'echo done' });
  });

  it('that writes what is no message is listened to further', async () => {
    const noise = `console.log('hello'); await import(${JSON.stringify(join(SUPPORT, 'mcp-stdio-server.mjs'))})`;
    const at = { command: process.execPath, args: ['--input-type=module', '-e', noise], env: {} };
    const connection = connections().connectionFor('', { name: 'noisy', source: 'file', at });
    expect(await call(connection, 'echo')).toEqual({ result: 'echo done' });
  });
});

test('lists of the same tools are the same list', async () => {
  const server = await http();
  const list = await connections().connectionFor('', endpoint(server.url)).listTools(NEVER);
  expect({ ...listOf(list.tools), skipped: [] }).toEqual(list);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
