import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startParley } from '../support/parley.js';
import { useSharedStage } from '../support/shared-stage.js';
import { Api, external, linear, unique } from '../support/workflow.js';

const stage = useSharedStage();
let server: Server;
let seen: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to');
    const hop = Number(/^\/hop\/(\d+)/.exec(request.url ?? '')?.[1] ?? 0);
    const location = to ?? (hop > 0 ? `/hop/${hop - 1}/.well-known/agent-card.json` : undefined);
    if (location === undefined) response.writeHead(404).end();
    else response.writeHead(302, { location }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => void server?.close());
beforeEach(() => (seen = []));

const here = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

describe('outbound calls', () => {
  it.each([
    'http://10.0.0.1/a2a',
    'http://192.168.1.1/a2a',
    'http://172.16.0.1/a2a',
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:10.0.0.1]/a2a',
    'http://[fd00::1]/a2a',
    'http://[fe80::1]/a2a',
    'http://167772161/a2a',
    'http://0x0a000001/a2a',
    'http://100.64.0.1/a2a',
  ])('%s is private: refused at once, whatever way it is written', async (url) => {
    const run = await stage.api.finish(linear(unique('guard'), external('x', url)));
    expect(run.status).toBe('failed');
    expect(run.error?.message).toMatch(/external agent call to .*: the address may not be called/);
  });

  it.each([
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'gopher://127.0.0.1/',
    'javascript:alert(1)',
    'not a url',
    'http://user:secret@127.0.0.1/',
  ])("%s is no agent's URL: refused at save, or the run fails", async (url) => {
    const workflow = linear(unique('guard'), external('x', url));
    const reply = await stage.api.call('POST', '/workflows', workflow);
    expect([201, 422]).toContain(reply.status);
    if (reply.status === 422) return;
    expect((await stage.api.ended(await stage.api.start(workflow.name))).status).toBe('failed');
  });

  it('a redirect to a private address is not followed', async () => {
    const to = encodeURIComponent('http://169.254.169.254/latest/meta-data');
    const tool = { id: 't', type: 'tool', config: { tool: 'http_get', args: { url: `${here()}/x?to=${to}` } } };
    const run = await stage.api.finish(linear(unique('guard'), tool));
    expect(run.status).toBe('failed');
    expect(seen).toHaveLength(1);
    expect(run.error?.message).toContain('the address may not be called');
  });

  it('three redirects are followed and no fourth', async () => {
    await stage.api.finish(linear(unique('guard'), external('x', `${here()}/hop/9`)));
    expect(new Set(seen).size).toBeLessThanOrEqual(4);
    seen = [];
    const run = await stage.api.finish(linear(unique('guard'), external('x', `${here()}/hop/3`)));
    expect(run.status).toBe('failed');
    expect(seen.some((it) => it.includes('/hop/0'))).toBe(true);
  });

  it('while HOST is not loopback, loopback is private too, unless OUTBOUND_ALLOW names it', async () => {
    const fake = await stage.fake();
    const env = { HOST: '0.0.0.0', AUTH_MODE: 'none', AUTH_ALLOW_ANONYMOUS: 'true' };
    const closed = await startParley({ databaseUrl: stage.database.url, env });
    const workflow = linear(unique('guard'), external('x', fake.url));
    const api = new Api(closed.url.replace('0.0.0.0', '127.0.0.1'));
    expect((await api.finish(workflow)).status).toBe('failed');
    expect(fake.calls).toEqual([]);
    await closed.stop();
    const open = await startParley({ databaseUrl: stage.database.url, env: { ...env, OUTBOUND_ALLOW: '127.0.0.0/8' } });
    const again = new Api(open.url.replace('0.0.0.0', '127.0.0.1'));
    expect((await again.ended(await again.start(workflow.name))).status).toBe('completed');
    await open.stop();
  });
});
