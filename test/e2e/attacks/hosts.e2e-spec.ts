import { refusedUpgrade } from '../../support/gateway-client.js';
import { type Parley, startParley } from '../../support/parley.js';
import { exchangeRaw, sendRaw } from '../../support/raw-request.js';
import { useSharedStage } from '../../support/shared-stage.js';
import { READY_OR_LATE } from '../../support/until-ready.js';
import { until } from '../../support/until.js';
import { echo, linear, unique } from '../../support/workflow.js';

const stage = useSharedStage();
const workflow = unique('hosts');

beforeAll(() => stage.api.save(linear(workflow, echo('a'))));

async function service(env: Record<string, string>): Promise<Parley> {
  const parley = await startParley({ databaseUrl: stage.database.url, env });
  stage.defer(() => parley.stop());
  return { ...parley, url: parley.url.replace('0.0.0.0', '127.0.0.1') };
}

/** The status that a request for a host gets. */
async function statusAt(base: string, host: string, headers: Record<string, string> = {}): Promise<number> {
  return (await sendRaw(base, { target: '/api/workflows', headers: { ...headers, host } })).status;
}

const tasks = async (): Promise<unknown> => stage.database.counts();

describe('without authentication', () => {
  it.each([
    'evil.example',
    'evil.example:3000',
    'localhost.evil.example',
    'notlocalhost',
    '127.0.0.1.evil.example',
    '127.0.0.1@evil.example',
    '[::1].evil.example',
    'LOCALHOST.EVIL.EXAMPLE',
    '192.0.2.1',
    '0.0.0.0',
    '[::ffff:192.0.2.1]',
    '..',
  ])('no surface serves the host %j', async (host) => {
    const { url } = stage.parley;
    const before = await tasks();
    for (const target of ['/api/workflows', '/', '/docs', '/metrics', '/no-such', '/.well-known/agent-card.json']) {
      const reply = await sendRaw(url, { target, headers: { host } });
      expect([target, reply.status]).toEqual([target, 421]);
      expect(reply.text).toContain('ALLOWED_HOSTS');
      expect(reply.text).not.toContain(workflow);
    }
    const headers = { host, 'content-type': 'application/json', 'a2a-version': '1.0', origin: `http://${host}` };
    const run = await sendRaw(url, { method: 'POST', target: `/api/workflows/${workflow}/runs`, headers, body: '{}' });
    expect([run.status, run.type]).toEqual([421, 'application/problem+json']);
    const message = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: message });
    const rpc = await sendRaw(url, { method: 'POST', target: `/a2a/workflows/${workflow}`, headers, body });
    expect([rpc.status, JSON.parse(rpc.text)]).toMatchObject([421, { error: { code: expect.any(Number) } }]);
    expect(await refusedUpgrade(`${url}/events`, { host, origin: `http://${host}` })).toMatchObject({ status: 421 });
    expect(READY_OR_LATE).toContain((await sendRaw(url, { target: '/health/ready', headers: { host } })).status);
    expect(await tasks()).toEqual(before);
  });

  it.each([
    'localhost',
    'LocalHost:1',
    'localhost.',
    'parley.localhost:3000',
    '127.0.0.1',
    '127.9.9.9:80',
    '[::1]:3000',
  ])('every surface serves %s', async (host) => expect(await statusAt(stage.parley.url, host)).toBe(200));

  it('a request that names no host, or another one in its target, is refused', async () => {
    const { url } = stage.parley;
    expect(await exchangeRaw(url, 'GET /api/workflows HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 421 /);
    expect(await exchangeRaw(url, 'GET /api/workflows HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 421 /,
    );
    expect(await exchangeRaw(url, 'GET /health/live HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    for (const target of [
      'http://evil.example/api/workflows',
      'http://evil.example:3000/',
      '//evil.example/api/workflows',
    ]) {
      const reply = await sendRaw(url, { target, headers: { host: 'localhost' } });
      expect([target, reply.status, reply.text.includes(workflow)]).toEqual([target, expect.any(Number), false]);
      expect(reply.status).toBeGreaterThanOrEqual(target.startsWith('//') ? 200 : 400);
    }
  });

  it('says in the log once what to do', async () => {
    const other = await service({});
    for (let n = 0; n < 3; n += 1) await statusAt(other.url, `evil${n}.example`);
    await until(() => other.logs().includes('ALLOWED_HOSTS'), { what: 'the line in the log' });
    await other.stop();
    expect(other.logs().split('ALLOWED_HOSTS')).toHaveLength(2);
  });

  it('PUBLIC_URL, INTERNAL_URL and ALLOWED_HOSTS name more', async () => {
    const { url } = await service({
      PUBLIC_URL: 'https://agents.example.com/parley',
      INTERNAL_URL: 'http://balancer:8080',
      ALLOWED_HOSTS: 'parley.internal, *.apps.example.com, ported.example.com:8443, 192.0.2.7, [2001:db8::1]',
    });
    const served = async (host: string): Promise<[string, boolean]> => [host, (await statusAt(url, host)) === 200];
    for (const host of [
      'agents.example.com',
      'AGENTS.example.com:443',
      'balancer:8080',
      'parley.internal:3000',
      'a.apps.example.com',
      'a.b.apps.example.com:1',
      'ported.example.com:8443',
      '192.0.2.7:3000',
      '[2001:DB8::1]:3000',
      'localhost',
    ]) {
      expect(await served(host)).toEqual([host, true]);
    }
    for (const host of ['example.com', 'apps.example.com', 'xapps.example.com', 'ported.example.com', '192.0.2.8']) {
      expect(await served(host)).toEqual([host, false]);
    }
  });

  it('a service that others reach serves the address that they reached it at', async () => {
    const { url } = await service({ HOST: '0.0.0.0', AUTH_MODE: 'none', AUTH_ALLOW_ANONYMOUS: 'true' });
    expect(await statusAt(url, new URL(url).host)).toBe(200);
    expect(await statusAt(url, '192.0.2.1')).toBe(421);
    expect(await statusAt(url, 'evil.example')).toBe(421);
  });

  it('what a trusted proxy was called by must be served as well; what others say counts for nothing', async () => {
    const forwarded = { 'x-forwarded-host': 'front.example.com' };
    const local = '127.0.0.1';
    expect(await statusAt(stage.parley.url, local, forwarded)).toBe(200);
    const trusting = await service({ TRUSTED_PROXIES: '127.0.0.1' });
    expect(await statusAt(trusting.url, local, forwarded)).toBe(421);
    expect(await statusAt(trusting.url, 'evil.example', { 'x-forwarded-host': 'localhost' })).toBe(421);
    expect(await refusedUpgrade(`${trusting.url}/events`, forwarded)).toMatchObject({ status: 421 });
    const told = await service({ TRUSTED_PROXIES: '127.0.0.1', ALLOWED_HOSTS: 'front.example.com' });
    expect(await statusAt(told.url, local, { ...forwarded, origin: 'https://front.example.com' })).toBe(200);
    expect(await statusAt(told.url, local, { ...forwarded, origin: 'http://127.0.0.1' })).toBe(403);
  });
});

describe('with authentication', () => {
  const KEY = 'a-key-of-thirty-two-characters-00';
  const auth = { AUTH_MODE: 'api-key', AUTH_API_KEYS: `anna:${KEY}` };

  it('every host is served, unless ALLOWED_HOSTS names some', async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    const any = await service(auth);
    expect(await statusAt(any.url, 'some.example', headers)).toBe(200);
    const some = await service({ ...auth, ALLOWED_HOSTS: 'some.example' });
    expect(await statusAt(some.url, 'some.example', headers)).toBe(200);
    expect(await statusAt(some.url, 'localhost', headers)).toBe(200);
    expect(await statusAt(some.url, 'other.example', headers)).toBe(421);
  });
});
