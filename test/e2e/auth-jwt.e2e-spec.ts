import { generateKeyPair, type JWTPayload } from 'jose';
import { rest, rpc, sendTask } from '../support/a2a.js';
import { AUDIENCE, IdentityProvider, ISSUER } from '../support/identity-provider.js';
import { mcp } from '../support/mcp.js';
import { startRefused } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { Api, input, linear, output, says, script, unique } from '../support/workflow.js';

const env: Record<string, string> = { NODE_DISPATCH: 'http' };
let provider: IdentityProvider;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  Object.assign(env, provider.env());
});

const stage = useStage({ env });

afterAll(() => provider.stop());

const ANN: JWTPayload = { sub: 'ann', org: 'acme' };
const now = (): number => Math.floor(Date.now() / 1000);

async function apiOf(claims: JWTPayload): Promise<Api> {
  return new Api(stage.parley.url, await provider.headers(claims));
}

async function statusOf(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await new Api(stage.parley.url, headers).call('GET', '/runs')).status;
}

describe('AUTH_MODE=jwt', () => {
  it.each<[string, () => JWTPayload]>([
    ['a plain token', () => ANN],
    ['one of several audiences', () => ({ ...ANN, aud: ['other', AUDIENCE] })],
    ['one that has just ended, within the tolerance', () => ({ ...ANN, exp: now() - 1 })],
    ['one that begins in a moment, within the tolerance', () => ({ ...ANN, nbf: now() + 10 })],
    ['one with the scope', () => ({ ...ANN, scope: 'openid agents' })],
    ['one with a list of scopes', () => ({ ...ANN, scope: ['agents'] })],
  ])('takes %s', async (_what, claims) => expect(await statusOf(await provider.token(claims()))).toBe(200));

  it.each<[string, () => JWTPayload]>([
    ['has ended', () => ({ ...ANN, exp: now() - 60 })],
    ['never ends', () => ({ ...ANN, exp: undefined })],
    ['has not begun', () => ({ ...ANN, nbf: now() + 3_600 })],
    ['is of another issuer', () => ({ ...ANN, iss: 'https://evil.example/' })],
    ['is for another audience', () => ({ ...ANN, aud: 'other' })],
    ['names nobody', () => ({ org: 'acme' })],
    ['names somebody who is no text', () => ({ ...ANN, sub: 7 as unknown as string })],
    ['names no tenant', () => ({ sub: 'ann' })],
    ['names an empty tenant', () => ({ sub: 'ann', org: '' })],
  ])('refuses a token that %s', async (_what, claims) => {
    expect(await statusOf(await provider.token(claims()))).toBe(401);
  });

  it('refuses signatures that the provider did not make', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    expect(await statusOf(await provider.token(ANN, privateKey))).toBe(401);
    // What everybody can read must not be a secret that signs.
    const published = new TextEncoder().encode(await (await fetch(provider.jwksUrl)).text());
    expect(await statusOf(await provider.token(ANN, published, 'HS256'))).toBe(401);
    const good = await provider.token(ANN);
    const [, payload = '', signature = ''] = good.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    for (const token of [`${none}.${payload}.`, `${none}.${payload}.${signature}`, good.slice(0, -3), 'a.b.c', 'x']) {
      expect(await statusOf(token)).toBe(401);
    }
    expect(await statusOf(good)).toBe(200);
  });

  it('lets a token do what its scopes say, and manage nothing where it says nothing', async () => {
    const reader = await apiOf({ ...ANN, scope: 'agents' });
    expect((await reader.call('POST', '/workflows', linear(unique('w'), input('in')))).status).toBe(403);
    expect((await (await apiOf({ ...ANN, scope: 'openid' })).call('GET', '/runs')).status).toBe(403);
    expect((await (await apiOf(ANN)).call('GET', '/keys')).status).toBe(403);
    expect((await (await apiOf({ ...ANN, scope: 'admin' })).call('GET', '/keys')).status).toBe(409);
  });

  it('says so on the card', async () => {
    const { body } = await rest(`${stage.parley.url}/a2a`, 'GET', '/.well-known/agent-card.json');
    expect(body).toMatchObject({
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } } },
      securityRequirements: [{ schemes: { bearer: { list: ['agents'] } } }],
    });
  });

  it('leads MCP clients without a token to the provider', async () => {
    const { url } = stage.parley;
    for (const path of ['/mcp', '/mcp/workflows/any']) {
      const refused = await mcp(`${url}${path}`, 'tools/list');
      const metadata = `${url}/.well-known/oauth-protected-resource${path}`;
      expect([refused.status, refused.body, refused.headers.get('www-authenticate')]).toEqual([
        401,
        { jsonrpc: '2.0', id: null, error: expect.objectContaining({ message: 'Valid credentials are required' }) },
        `Bearer realm="parley", resource_metadata="${metadata}"`,
      ]);
      expect(await (await fetch(metadata)).json()).toEqual({
        resource: `${url}${path}`,
        authorization_servers: [ISSUER],
        scopes_supported: ['agents'],
        bearer_methods_supported: ['header'],
      });
    }
    const headers = await provider.headers(ANN);
    expect((await mcp(`${url}/mcp`, 'tools/list', {}, { headers })).status).toBe(200);
    const low = await mcp(
      `${url}/mcp`,
      'tools/list',
      {},
      { headers: await provider.headers({ ...ANN, scope: 'admin' }) },
    );
    expect([low.status, low.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('error="insufficient_scope", scope="agents", resource_metadata="'),
    ]);
  });

  it('does not start without the provider', async () => {
    const { code, logs } = await startRefused({ databaseUrl: stage.database.url, env: { AUTH_MODE: 'jwt' } });
    expect(code).toBe(1);
    expect(logs.trim().split('\n')).toEqual(
      ['JWKS_URL', 'ISSUER', 'AUDIENCE'].map((name) => `AUTH_JWT_${name}: is needed with AUTH_MODE=jwt`),
    );
  });
});

describe('tenants', () => {
  it('share workflows, and see nothing of each other’s', async () => {
    const [ann, bob, eve] = [
      await apiOf(ANN),
      await apiOf({ sub: 'bob', org: 'acme' }),
      await apiOf({ sub: 'ann', org: 'evil' }),
    ];
    const name = unique('shared');
    await ann.save(linear(name, input('in'), script('s', ...says('acme says')), output('out')));
    const run = await bob.ended(await bob.start(name, { in: 'x' }));
    expect([run.status, run.state.s]).toEqual(['completed', 'acme says']);

    expect((await eve.call('GET', `/workflows/${name}`)).status).toBe(404);
    expect((await eve.call('POST', `/workflows/${name}/runs`, { inputs: {} })).status).toBe(404);
    expect((await eve.call('GET', '/workflows')).body).toEqual([]);
    expect((await rpc(eve.base(name), 'ListTasks', {}, { headers: eve.headers })).body.error?.code).toBe(-32001);
    expect(
      (await rest(`${stage.parley.url}/a2a`, 'GET', '/agents', { headers: eve.headers })).body.agents,
    ).toHaveLength(1);
    await eve.save(linear(name, input('in'), script('s', ...says('evil says')), output('out')));
    const theirs = await eve.ended(await eve.start(name, { in: 'x' }));
    expect(theirs.state.s).toBe('evil says');
    for (const api of [ann, eve]) expect((await api.call('GET', `/runs/${run.runId}`)).status).toBe(404);
    expect((await eve.call('DELETE', `/workflows/${name}`)).status).toBe(204);
    expect((await sendTask(ann.base(name), 'x', { headers: ann.headers })).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('show the cards of their agents to their own callers only', async () => {
    const ann = await apiOf(ANN);
    const { name } = await ann.save(linear(unique('w'), input('in'), output('out')));
    const card = (headers = {}) => rest(ann.base(name), 'GET', '/.well-known/agent-card.json', { headers });
    const own = await card(ann.headers);
    expect([own.status, own.headers.get('vary')]).toEqual([200, 'A2A-Version, Authorization, X-API-Key']);
    expect(own.headers.get('cache-control')).toMatch(/^private/);
    expect((await card()).status).toBe(404);
    expect((await card(await provider.headers({ sub: 'ann', org: 'evil' }))).status).toBe(404);
  });
});
