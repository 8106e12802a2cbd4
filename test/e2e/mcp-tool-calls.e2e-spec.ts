import type { JsonObject } from '#libs/protocol';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { keepMcpServer, McpHttpServer } from '../support/mcp-http-server.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api } from '../support/workflow.js';

interface Called {
  ok: boolean;
  latencyMs: number;
  result?: unknown;
  error?: string;
  truncated?: boolean;
}

const ann = testCaller('ann');
const stage = useStage({ env: { ...apiKeyEnv(ann), OUTBOUND_ALLOW: '127.0.0.1' } });
let api: Api;
let mcp: McpHttpServer;
let name: string;

beforeAll(async () => {
  api = new Api(stage.parley.url, ann.headers);
  mcp = await McpHttpServer.start();
  stage.defer(() => mcp.stop());
  mcp.tools = [
    { name: 'search', description: 'Searches', annotations: { readOnlyHint: true } },
    { name: 'erase', description: 'Erases a page' },
    { name: 'hidden', description: 'Is not allowed' },
    {
      name: 'fail',
      annotations: { readOnlyHint: true },
      call: () => ({ content: [{ type: 'text', text: 'no such page' }], isError: true }),
    },
    {
      name: 'large',
      annotations: { readOnlyHint: true },
      call: () => ({ content: [{ type: 'text', text: 'x'.repeat(300_000) }] }),
    },
    {
      name: 'hang',
      annotations: { readOnlyHint: true },
      call: (_args, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('end')))),
    },
  ];
  name = await keepMcpServer(api, { url: mcp.url, allow: ['search', 'erase', 'fail', 'large', 'hang'] });
});

const call = (body: JsonObject) => api.call<Called & JsonObject>('POST', `/mcp-servers/${name}/call`, body);
const callsOf = (tool: string): number => mcp.calls.filter((it) => it.tool === tool).length;

it('calls a tool that only reads with its arguments, and leaves no run', async () => {
  const reply = await call({ tool: 'search', args: { text: 'three pages' } });
  expect([reply.status, reply.body]).toEqual([200, { ok: true, latencyMs: expect.any(Number), result: 'three pages' }]);
  expect(mcp.calls.at(-1)).toMatchObject({ tool: 'search', args: { text: 'three pages' } });
  expect((await api.call('GET', '/runs')).body).toMatchObject({ runs: [] });
});

it('calls a tool that may change something only when it is confirmed', async () => {
  const refused = await call({ tool: 'erase' });
  expect([refused.status, refused.body['reason'], callsOf('erase')]).toEqual([409, 'CONFIRMATION_REQUIRED', 0]);
  expect((await call({ tool: 'erase', confirmed: true })).body.ok).toBe(true);
  expect(callsOf('erase')).toBe(1);
});

it('calls no tool that is unknown or not allowed, and names the member', async () => {
  for (const tool of ['hidden', 'nothing', '*', 'search/../erase']) {
    const reply = await call({ tool, confirmed: true });
    expect([tool, reply.status, reply.body['errors']]).toEqual([
      tool,
      422,
      [expect.objectContaining({ path: 'tool' })],
    ]);
  }
  expect(callsOf('hidden')).toBe(0);
  const malformed = await call({ tool: '', args: [], more: 1 });
  expect([malformed.status, (malformed.body['errors'] as JsonObject[]).map(({ path }) => path)]).toEqual([
    400,
    ['tool', 'args', 'more'],
  ]);
  expect((await api.call('POST', '/mcp-servers/nothing-here/call', { tool: 'search' })).status).toBe(404);
});

it('shows the error of a tool, cuts a large result, and says that the server is away', async () => {
  expect((await call({ tool: 'fail' })).body).toMatchObject({ ok: false, error: 'no such page' });
  const large = (await call({ tool: 'large' })).body;
  expect([large.ok, large.truncated, String(large.result).length < 270_000]).toEqual([true, true, true]);
  const away = await keepMcpServer(api, { url: 'http://127.0.0.1:1/mcp' });
  const reply = await api.call<Called & JsonObject>('POST', `/mcp-servers/${away}/call`, { tool: 'search' });
  expect(reply.body).toMatchObject({ ok: false, error: expect.stringContaining('was never reached') });
});

it('gives a caller two at a time, and ends the call of a client that leaves', async () => {
  const leaving = [new AbortController(), new AbortController()];
  const open = leaving.map(({ signal }) =>
    fetch(`${stage.parley.url}/api/mcp-servers/${name}/call`, {
      method: 'POST',
      headers: { ...ann.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ tool: 'hang' }),
      signal,
    }).catch(() => undefined),
  );
  await until(() => callsOf('hang') === 2, { what: 'two calls to reach the server' });
  expect((await call({ tool: 'search' })).status).toBe(429);
  for (const it of leaving) it.abort();
  await Promise.all(open);
  await until(() => mcp.calls.filter((it) => it.tool === 'hang').every(({ signal }) => signal.aborted), {
    what: 'the calls to end at the server',
  });
  await until(async () => (await call({ tool: 'search' })).status === 200, { what: 'a place to be free' });
});
