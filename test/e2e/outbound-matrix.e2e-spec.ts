import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import type { JsonObject } from '#libs/protocol';
import { rpc, sendTask } from '../support/a2a.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { describeOnLinux } from '../support/on-linux.js';
import { laxly, Pre10Agent } from '../support/pre-1-0-agent.js';
import { startParley } from '../support/parley.js';
import { metric } from '../support/service-metrics.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, echo, external, linear, script, unique } from '../support/workflow.js';

/** Addresses of this machine: the first is allowed, the second is not. */
const ALLOWED = '127.0.0.2';
const FORBIDDEN = '127.0.0.1';

const NAMES: Record<string, string[][]> = {
  'private.test': [['10.0.0.1']],
  'metadata.test': [['169.254.169.254']],
  'loopback.test': [[FORBIDDEN]],
  'loopback6.test': [['::1']],
  'mapped.test': [['::ffff:127.0.0.1']],
  'local6.test': [['fd00::1', 'fe80::1']],
  'nat64.test': [['64:ff9b::7f00:1']],
  'sixtofour.test': [['2002:7f00:1::1']],
  'zero.test': [['0.0.0.0', '::']],
  'loopback.test.': [[FORBIDDEN]],
  'sub.localhost': [[FORBIDDEN]],
  'mappedhex.test': [['::ffff:7f00:1']],
  'nat64local.test': [['64:ff9b:1::7f00:1']],
  'teredo.test': [['2001:0:7f00:1::1']],
  'zone.test': [['fe80::1%lo']],
  'compatible.test': [['::7f00:1']],
  'allowed.test': [[ALLOWED]],
  // A server of names that changes its mind: allowed when it is asked first, forbidden ever after.
  'rebind.test': [[ALLOWED], [FORBIDDEN]],
  'both.test': [[FORBIDDEN, ALLOWED]],
};

const LITERALS = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0x7f.1',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '192.168.0.1',
  '172.31.255.255',
  '100.64.0.1',
  '169.254.169.254',
  '2852039166',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::169.254.169.254]',
  '[2002:7f00:1::1]',
  '[2002:a9fe:a9fe::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '127.0.1',
  '0177.1',
  '0x7F.0.0x0.1',
  '00000000177.0.0.01',
  '127.0.0.1.',
  '127.255.255.254',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127%2e0%2e0%2e1',
  '%31%32%37.0.0.1',
  '0.1.2.3',
  '192.0.0.1',
  '240.0.0.1',
  '[::ffff:0:127.0.0.1]',
  '[0000:0000:0000:0000:0000:ffff:7f00:0001]',
  '[64:ff9b:1::7f00:1]',
  '[2001:0:7f00:1::1]',
  '[fe80::5efe:7f00:1]',
  '[fec0::1]',
  '[100::1]',
  'localhost',
  'LOCALHOST.',
];

/** What other readers of addresses take for another host than the one that is meant; some are no addresses at all. */
const AUTHORITIES = [
  'allowed.test@{forbidden}',
  'allowed.test:80@{forbidden}',
  'user:password@{forbidden}',
  '{forbidden}\\@{forbidden}',
  '{forbidden}#@allowed.test',
  '{forbidden}?@allowed.test',
  '{forbidden}/@allowed.test',
  '{forbidden}\\allowed.test',
  'allowed.test%40{forbidden}',
  'allowed.test%00@{forbidden}',
  '[::1%25lo]:{port}',
  '[fe80::1%lo]:{port}',
  '[::1]allowed.test:{port}',
  '127.0.0.1%00.allowed.test:{port}',
  '127.0.0.1 allowed.test:{port}',
  '127.0.0.256:{port}',
  '0x7f.0.0.0.1:{port}',
];

const hits: string[] = [];
let forbidden: Server;
let allowed: Server;
/** What the allowed server answers, by path. */
let answer: (path: string) => { status?: number; headers?: Record<string, string>; body?: JsonObject };
let port: number;

beforeAll(async () => {
  forbidden = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`);
    response.end('{}');
  }).listen(0, FORBIDDEN);
  await once(forbidden, 'listening');
  port = (forbidden.address() as AddressInfo).port;
  allowed = createServer(tell).listen(port, ALLOWED);
  await once(allowed, 'listening');
});

afterAll(() => {
  for (const server of [forbidden, allowed]) server.close().closeAllConnections();
});

beforeEach(() => {
  hits.length = 0;
  answer = () => ({ status: 404 });
});

function tell(request: IncomingMessage, response: ServerResponse): void {
  const { status = 200, headers = {}, body = {} } = answer(request.url ?? '/');
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
  response.end(JSON.stringify(body));
}

const env = {
  HOST: '0.0.0.0',
  AUTH_MODE: 'none',
  AUTH_ALLOW_ANONYMOUS: 'true',
  OUTBOUND_ALLOW: `${ALLOWED}/32`,
  NODE_OPTIONS: `--import=${pathToFileURL(resolve(import.meta.dirname, '../support/test-names.mjs')).href}`,
  TEST_NAMES: JSON.stringify(NAMES),
};
const stage = useStage({ env });
let api: Api;

beforeAll(() => {
  stage.parley.url = stage.parley.url.replace('0.0.0.0', '127.0.0.1');
  api = new Api(stage.parley.url);
});

const refusals = (): Promise<number> => metric(stage.parley, 'parley_outbound_refused_total');

/** Does something and expects that a call was refused here, and that nothing reached what is forbidden. */
async function expectRefused(act: () => Promise<unknown>): Promise<void> {
  const before = await refusals();
  await act();
  expect(await refusals()).toBeGreaterThan(before);
  expect(hits).toEqual([]);
}

async function failed(...nodes: Parameters<typeof linear>[1][]): Promise<void> {
  const run = await api.finish(linear(unique('matrix'), ...nodes));
  expect(run.status).toBe('failed');
}

const get = (url: string) => ({ id: 't', type: 'tool', config: { tool: 'http_get', args: { url } } });
const REFUSED_NAMES = Object.keys(NAMES).filter((name) => !/allowed|rebind|both/.test(name));

// Only there all of 127.0.0.0/8 belongs to the machine.
describeOnLinux('addresses of this machine, which only Linux has so many of', () => {
  describe.each([...LITERALS, ...REFUSED_NAMES])('%s', (host) => {
    it('is reached by no tool and no agent', async () => {
      await expectRefused(() => failed(get(`http://${host}:${port}/x`)));
      await expectRefused(() => failed(external('x', `http://${host}:${port}/`)));
    });
  });

  it.each(AUTHORITIES)('http://%s is reached by nobody, however it is read', async (template) => {
    const authority = template.replaceAll('{forbidden}', `${FORBIDDEN}:${port}`).replaceAll('{port}', String(port));
    for (const url of [`http://${authority}`, `http:/${authority}`, `//${authority}`, `http:\\\\${authority}`]) {
      for (const node of [get(url), external('x', url)]) {
        const workflow = linear(unique('authority'), node);
        const { status } = await api.call('POST', '/workflows', workflow);
        expect([201, 422]).toContain(status);
        if (status === 201) expect((await api.ended(await api.start(workflow.name))).status).toBe('failed');
      }
    }
    expect(hits).toEqual([]);
  });

  it.each(['JSONRPC', 'HTTP+JSON'])('a card may not send %s calls to what is forbidden', async (protocolBinding) => {
    for (const host of ['loopback.test', FORBIDDEN, '[::1]']) {
      const card = cardFor(`http://${host}:${port}/rpc`, protocolBinding);
      answer = (path) => (path.endsWith('agent-card.json') ? { body: card } : { status: 404 });
      await expectRefused(() => failed(external('x', `http://allowed.test:${port}/${unique('agent')}`)));
    }
  });

  it('a redirect leads to nothing that is forbidden', async () => {
    for (const host of ['loopback.test', FORBIDDEN, '2130706433', '[::ffff:127.0.0.1]', '169.254.169.254']) {
      answer = () => ({ status: 302, headers: { location: `http://${host}:${port}/stolen` } });
      await expectRefused(() => failed(get(`http://allowed.test:${port}/x`)));
      await expectRefused(() => failed(external('x', `http://allowed.test:${port}/${unique('agent')}`)));
    }
    answer = () => ({ status: 302, headers: { location: 'file:///etc/passwd' } });
    await expectRefused(() => failed(get(`http://allowed.test:${port}/x`)));
  });

  it('a name is looked up and checked for every connection, and only what was checked is connected to', async () => {
    answer = () => ({ body: { reached: true } });
    const once_ = await api.finish(linear(unique('matrix'), get(`http://rebind.test:${port}/x`)));
    expect(once_.status).toBe('completed');
    await expectRefused(() => failed(get(`http://rebind.test:${port}/x`)));
    const both = await api.finish(linear(unique('matrix'), get(`http://both.test:${port}/x`)));
    expect([both.status, hits]).toEqual(['completed', []]);
  });

  it.each(['loopback.test', 'metadata.test', 'mapped.test', 'nat64.test'])(
    'a webhook at %s is not called',
    async (name) => {
      const { base, task } = await waiting();
      await expectRefused(async () => {
        await rpc(base, 'CreateTaskPushNotificationConfig', { taskId: task, url: `http://${name}:${port}/hook` });
        await sendTask(base, 'more', { fields: { taskId: task } });
        const delivery = async () => {
          const { body } = await api.call('GET', `/deliveries?taskId=${task}`);
          return (body as unknown as { deliveries: { lastError?: string }[] }).deliveries[0];
        };
        expect(await until(delivery, { what: 'an attempt' })).toMatchObject({
          lastError: expect.stringMatching(/refused/),
        });
      });
    },
  );

  it('an agent of the pre-1.0 dialect is found to speak it in two requests, and called in one from then on', async () => {
    const agent = await Pre10Agent.start({ host: ALLOWED });
    const lax = await Pre10Agent.start({ host: ALLOWED, answer: laxly });
    const named = external('z', lax.url, { protocol: 'founding' });
    const nodes = [external('x', agent.url), external('y', agent.url), named];
    const { status, result } = await api.finish(linear(unique('matrix'), ...nodes));
    await Promise.all([agent.stop(), lax.stop()]);
    expect(lax.methods).toEqual(['a2a.sendMessage']);
    expect(agent.methods).toEqual(['SendMessage', 'a2a.sendMessage', 'a2a.sendMessage']);
    expect([status, JSON.stringify(result)]).toEqual(['completed', expect.stringContaining('Execute node x')]);
  });

  it.each(LITERALS)('a webhook at %s is not even kept', async (host) => {
    const { base, task } = await waiting();
    const params = { taskId: task, url: `http://${host}:${port}/hook` };
    expect((await rpc(base, 'CreateTaskPushNotificationConfig', params)).body.error?.code).toBe(-32602);
  });

  it('what the operator configured may be private, but leads nowhere else: the model', async () => {
    answer = () => ({ status: 307, headers: { location: `http://${FORBIDDEN}:${port}/stolen` } });
    const llm = { LLM_BASE_URL: `http://loopback.test:${port}/v1`, LLM_MODEL: 'm' };
    const names = JSON.stringify({ ...NAMES, 'loopback.test': [[ALLOWED]] });
    const options = { ...env, OUTBOUND_ALLOW: '10.9.9.9', TEST_NAMES: names, ...llm };
    const parley = await startParley({ databaseUrl: stage.database.url, env: options });
    const other = new Api(parley.url.replace('0.0.0.0', '127.0.0.1'));
    const run = await other.finish(linear(unique('matrix'), echo('a', { model: 'm' })));
    await parley.stop();
    expect([run.status, hits]).toEqual(['failed', []]);
  });

  it('what the operator configured may be private, but leads nowhere else: the keys of the identity provider', async () => {
    const provider = await IdentityProvider.start();
    answer = () => ({ status: 302, headers: { location: `http://${FORBIDDEN}:${port}/stolen` } });
    const jwt = { ...provider.env(), AUTH_JWT_JWKS_URL: `http://allowed.test:${port}/keys` };
    const parley = await startParley({ databaseUrl: stage.database.url, env: { ...env, ...jwt } });
    const headers = await provider.headers({ sub: 'ann', org: 'acme' });
    const reply = await new Api(parley.url.replace('0.0.0.0', '127.0.0.1'), headers).call('GET', '/runs');
    await parley.stop();
    await provider.stop();
    expect([reply.status, hits]).toEqual([503, []]);
  });
});

/** An agent's Task that waits for more. */
async function waiting(): Promise<{ base: string; task: string }> {
  const { name } = await api.save({ name: unique('ask'), nodes: [script('q', { ask: 'more?' })], edges: [] });
  const base = api.base(name, 'q');
  return { base, task: (await sendTask(base, 'hi')).id };
}

function cardFor(url: string, protocolBinding: string): JsonObject {
  return {
    name: 'elsewhere',
    description: 'An agent whose card leads somewhere else.',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding, protocolVersion: '1.0' }],
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
}
