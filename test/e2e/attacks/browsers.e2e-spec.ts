import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { refusedUpgrade, GatewayClient } from '../../support/gateway-client.js';
import { type RawAnswer, type RawRequest, sendRaw } from '../../support/raw-request.js';
import { useStage } from '../../support/stage.js';
import { echo, input, linear, unique } from '../../support/workflow.js';

const APP = 'https://app.example.com';
const EVIL = 'https://evil.example';
const JSON_TYPE = { 'content-type': 'application/json' };
const MESSAGE = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } };
const workflow = unique('browsers');
const KEY = 'a-key-of-thirty-two-characters-00';

const open = useStage({ env: { CORS_ORIGINS: APP } });
const locked = useStage({ env: { AUTH_MODE: 'api-key', AUTH_API_KEYS: `anna:${KEY}`, CORS_ORIGINS: APP } });
const credentials = { authorization: `Bearer ${KEY}` };

let hits = 0;
const canary = createServer((_request, response) => {
  hits += 1;
  response.end('{}');
});

beforeAll(async () => {
  canary.listen(0, '127.0.0.1');
  await once(canary, 'listening');
  await open.api.save(linear(workflow, { ...input('in'), config: { optional: true } }, echo('a')));
});

afterAll(() => void canary.close());

const canaryUrl = (): string => `http://127.0.0.1:${(canary.address() as AddressInfo).port}/`;
const ask = (request: RawRequest): Promise<RawAnswer> => sendRaw(open.parley.url, request);
const ownOrigin = (): string => new URL(open.parley.url).origin;

/** What the service keeps, by table: nothing of it may change by a request that was refused. */
async function kept(): Promise<unknown> {
  const names = ['task', 'workflow', 'workflow_revision', 'credential', 'conversation_command', 'push_config'];
  const found: Record<string, unknown> = {};
  for (const name of names) {
    const known = await open.database.query(`SELECT to_regclass('${name}') IS NOT NULL AS it`);
    if (!known[0]?.it) continue;
    [found[name]] = await open.database.query(`SELECT count(*)::int AS n FROM ${name}`);
  }
  return found;
}

/** Calls that change something: `[method, path, body]`; those without a body need none. */
const CHANGES: [method: string, path: string, body?: unknown][] = [
  ['POST', '/api/workflows', linear(unique('stolen'), echo('a'))],
  ['PUT', `/api/workflows/${workflow}`, linear(workflow, echo('b'))],
  ['DELETE', `/api/workflows/${workflow}`],
  ['POST', `/api/workflows/${workflow}/run`],
  ['POST', `/api/workflows/${workflow}/run`, { inputs: { in: 'x' } }],
  ['POST', `/api/workflows/${workflow}/runs`],
  ['POST', `/api/workflows/${workflow}/runs`, { inputs: { in: 'x' } }],
  ['POST', '/api/conversations', { requester: `workflows/${workflow}`, target: EVIL, message: 'hi' }],
  ['POST', '/api/credentials', { name: 'stolen', kind: 'api-key', value: 'x', hosts: ['evil.example'] }],
  ['POST', '/api/brainstorms', { idea: 'x', agents: [{ agent: `workflows/${workflow}` }] }],
  ['POST', '/api/tickets'],
  ['POST', '/api/runs/nope/cancel'],
  ['POST', '/api/brainstorms/nope/approve'],
  ['POST', '/api/conversations/nope/cancel'],
];

describe('what takes a body', () => {
  it.each([
    ['a form', 'application/x-www-form-urlencoded', 'inputs[in]=x&requester=a&target=b&message=c&name=d'],
    [
      'a form with files',
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x--',
    ],
    ['text', 'text/plain', '{"inputs":{"in":"x"}}'],
    ['text that says it is JSON too', 'text/plain; application/json', '{"inputs":{"in":"x"}}'],
    ['no type', undefined, '{"inputs":{"in":"x"}}'],
  ])('takes JSON alone: %s is 415', async (_what, type, body) => {
    const before = await kept();
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    for (const [method, target, sent] of CHANGES.filter(([name]) => name !== 'DELETE')) {
      if (sent === undefined) continue;
      const reply = await ask({ method, target, headers, body });
      expect([target, reply.status, reply.type]).toEqual([target, 415, 'application/problem+json']);
    }
    for (const target of ['/api/runs/nope/cancel', '/api/tickets', '/api/brainstorms/nope/approve']) {
      expect([target, (await ask({ method: 'POST', target, headers, body })).status]).toEqual([target, 415]);
    }
    for (const target of ['/a2a', `/a2a/workflows/${workflow}`, `/a2a/workflows/${workflow}/message:send`]) {
      const reply = await ask({ method: 'POST', target, headers: { 'a2a-version': '1.0', ...headers }, body });
      expect([target, reply.status]).toEqual([target, 415]);
      expect(JSON.parse(reply.text)).toHaveProperty('error');
    }
    expect(await kept()).toEqual(before);
  });

  it('takes no body for none, with or without a type', async () => {
    for (const headers of [
      {},
      { 'content-length': '0' },
      JSON_TYPE,
      { 'content-type': 'application/x-www-form-urlencoded' },
    ]) {
      const reply = await ask({ method: 'POST', target: `/api/workflows/${workflow}/runs`, headers: headers as never });
      expect([headers, reply.status]).toEqual([headers, 202]);
      // What it writes is no stranger's work.
      await open.api.ended((JSON.parse(reply.text) as { runId: string }).runId);
    }
  });
});

const FOREIGN: [string, Record<string, string>][] = [
  ['another origin', { origin: EVIL }],
  ['no origin that may be told', { origin: 'null' }],
  ['another port', { origin: 'http://127.0.0.1:1' }],
  ['another site, without an Origin', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
  ['another host of the site', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }],
  [
    'a link on another site',
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  ],
  ['an origin that only begins like one that may', { origin: `${APP}.evil.example` }],
];

describe.each(FOREIGN)('a page: %s', (_what, headers) => {
  it('changes nothing through the API', async () => {
    const before = await kept();
    for (const [method, target, body] of CHANGES) {
      const sent = { ...headers, ...(body !== undefined && JSON_TYPE) };
      const reply = await ask({
        method,
        target,
        headers: sent,
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      expect([method, target, reply.status, reply.type]).toEqual([method, target, 403, 'application/problem+json']);
      expect(JSON.parse(reply.text)).toMatchObject({ status: 403, detail: expect.stringContaining('CORS_ORIGINS') });
    }
    expect(await kept()).toEqual(before);
  });

  it('sends no agent a Message', async () => {
    const before = await kept();
    const sent = { 'a2a-version': '1.0', ...JSON_TYPE, ...headers };
    const rpc = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: MESSAGE });
    const overRpc = await ask({ method: 'POST', target: `/a2a/workflows/${workflow}`, headers: sent, body: rpc });
    expect([overRpc.status, JSON.parse(overRpc.text)]).toMatchObject([403, { error: { code: -31403 } }]);
    const overRest = await ask({
      method: 'POST',
      target: `/a2a/workflows/${workflow}/message:send`,
      headers: sent,
      body: JSON.stringify(MESSAGE),
    });
    expect([overRest.status, JSON.parse(overRest.text)]).toMatchObject([
      403,
      { error: { status: 'PERMISSION_DENIED' } },
    ]);
    expect(await kept()).toEqual(before);
  });

  it('reads nothing, and has nothing fetched', async () => {
    for (const target of [
      '/api/workflows',
      '/api/runs',
      '/api/events',
      '/a2a/tasks',
      '/a2a/agents',
      '/api/no',
      '/no.js',
    ]) {
      expect([target, (await ask({ target, headers })).status]).toEqual([target, target === '/no.js' ? 404 : 403]);
    }
    for (const method of ['GET', 'HEAD']) {
      const target = `/api/agent-card?url=${encodeURIComponent(canaryUrl())}`;
      expect((await ask({ method, target, headers })).status).toBe(403);
    }
    expect(hits).toBe(0);
  });

  it('may still show what is public, and lead to the console', async () => {
    const targets = ['/', '/runs/some-run', '/health/live', '/.well-known/agent-card.json', '/metrics', '/docs'];
    for (const target of targets) expect([target, (await ask({ target, headers })).status]).toEqual([target, 200]);
  });

  it('opens no WebSocket, with a ticket or without', async () => {
    expect(await refusedUpgrade(`${open.parley.url}/events`, headers)).toMatchObject({ status: 403 });
    const { url } = locked.parley;
    const reply = await sendRaw(url, { method: 'POST', target: '/api/tickets', headers: credentials });
    const { protocols } = JSON.parse(reply.text) as { protocols: string[] };
    const offered = { 'sec-websocket-protocol': protocols.join(', ') };
    expect(await refusedUpgrade(`${url}/events`, { ...headers, ...offered })).toMatchObject({ status: 403 });
    const client = await GatewayClient.open(url, {}, { protocols });
    await client.cut();
  });

  it('is refused with credentials as well', async () => {
    const sent = { ...credentials, ...headers };
    expect((await sendRaw(locked.parley.url, { target: '/api/runs', headers: sent })).status).toBe(403);
    const post = { method: 'POST', target: '/api/runs/nope/cancel', headers: sent };
    expect((await sendRaw(locked.parley.url, post)).status).toBe(403);
    expect((await sendRaw(locked.parley.url, { ...post, headers: credentials })).status).toBe(404);
  });
});

describe('who may call', () => {
  const start = (headers: Record<string, string>): Promise<RawAnswer> =>
    ask({
      method: 'POST',
      target: `/api/workflows/${workflow}/runs`,
      headers: { ...JSON_TYPE, ...headers },
      body: '{"inputs":{"in":"x"}}',
    });

  it('the console: a page of the host that it was loaded from', async () => {
    const same = { 'sec-fetch-site': 'same-origin' };
    expect((await start({ origin: ownOrigin(), ...same })).status).toBe(202);
    const { port } = new URL(open.parley.url);
    expect((await start({ origin: `http://localhost:${port}`, host: `localhost:${port}`, ...same })).status).toBe(202);
    expect((await ask({ target: '/api/runs', headers: same })).status).toBe(200);
    expect((await ask({ target: '/api/runs', headers: { 'sec-fetch-site': 'none' } })).status).toBe(200);
    const client = await GatewayClient.open(open.parley.url, {}, { headers: { origin: ownOrigin(), ...same } });
    await client.cut();
  });

  it('a page of CORS_ORIGINS', async () => {
    const headers = { origin: APP, 'sec-fetch-site': 'cross-site' };
    expect((await start(headers)).status).toBe(202);
    expect((await ask({ target: '/api/events', headers })).status).toBe(200);
    const client = await GatewayClient.open(open.parley.url, {}, { headers });
    await client.cut();
  });

  it('what is no browser, also Node with its sec-fetch-mode', async () => {
    expect((await start({})).status).toBe(202);
    expect((await start({ 'sec-fetch-mode': 'cors' })).status).toBe(202);
    expect((await ask({ method: 'POST', target: '/api/runs/nope/cancel' })).status).toBe(404);
  });

  it('a browser that tells nothing of its pages has nothing fetched for an image', async () => {
    const target = `/api/agent-card?url=${encodeURIComponent(canaryUrl())}`;
    const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Safari/605.1.15' };
    expect((await ask({ target, headers: browser })).status).toBe(403);
    expect(hits).toBe(0);
    const console = { ...browser, 'x-requested-with': 'parley-console' };
    expect((await ask({ target, headers: console })).status).not.toBe(403);
    expect((await ask({ target, headers: { 'user-agent': 'curl/8.5.0' } })).status).not.toBe(403);
    expect(hits).toBeGreaterThan(0);
  });
});
