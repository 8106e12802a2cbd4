import type { JsonObject } from '#libs/protocol';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { keepCredential, newSecret } from '../support/credentials.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, external, linear, unique } from '../support/workflow.js';

const ann = testCaller('ann');
const stage = useStage({ env: { ...apiKeyEnv(ann), LOG_LEVEL: 'debug' } });
let api: Api;

beforeAll(() => {
  api = new Api(stage.parley.url, ann.headers);
});

const oauth2 = (secret: string): JsonObject => ({
  kind: 'oauth2-client-credentials',
  tokenUrl: 'https://login.example.com/token',
  clientId: 'parley',
  clientSecret: secret,
});

describe('/api/credentials', () => {
  it.each<[string, (secret: string) => JsonObject, JsonObject]>([
    ['an API key', (value) => ({ kind: 'api-key', value }), { kind: 'api-key', in: 'header', parameter: 'X-API-Key' }],
    [
      'a key in the query for some hosts',
      (value) => ({ kind: 'api-key', in: 'query', parameter: 'key', value, hosts: ['api.example.com:8443'] }),
      { kind: 'api-key', in: 'query', parameter: 'key', hosts: ['https://api.example.com:8443'] },
    ],
    ['a bearer token', (token) => ({ kind: 'bearer', token }), { kind: 'bearer' }],
    [
      'a user and a password',
      (password) => ({ kind: 'basic', username: 'ann', password }),
      { kind: 'basic', username: 'ann' },
    ],
    [
      'an OAuth 2.0 client',
      oauth2,
      {
        kind: 'oauth2-client-credentials',
        tokenUrl: 'https://login.example.com/token',
        clientId: 'parley',
        scopes: [],
        clientAuthentication: 'basic',
      },
    ],
  ])('keeps %s and shows everything but the secret', async (_what, fields, shown) => {
    const [secret, later] = [newSecret(), newSecret()];
    const name = unique('c');
    const created = await api.call('POST', '/credentials', { name, ...fields(secret) });
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe(`/api/credentials/${name}`);
    expect(created.body).toEqual({ name, ...shown, createdAt: expect.any(String), updatedAt: expect.any(String) });

    const replaced = await api.call('PUT', `/credentials/${name}`, fields(later));
    expect(replaced.status).toBe(200);
    expect(replaced.body).toEqual({ ...created.body, updatedAt: expect.any(String) });
    const one = await api.call('GET', `/credentials/${name}`);
    expect(one.body).toEqual(replaced.body);
    const all = await api.call<{ credentials: JsonObject[] }>('GET', '/credentials');
    expect(all.body.credentials).toContainEqual(replaced.body);

    const deleted = await api.call('DELETE', `/credentials/${name}`);
    expect(deleted.status).toBe(204);
    for (const reply of [created, replaced, one, all, deleted]) {
      for (const it of [secret, later]) expect(reply.text).not.toContain(it);
    }
    for (const method of ['GET', 'DELETE']) expect((await api.call(method, `/credentials/${name}`)).status).toBe(404);
    expect((await api.call('PUT', `/credentials/${name}`, fields(secret))).status).toBe(404);
    expect(stage.parley.logs()).not.toMatch(new RegExp(`${secret}|${later}`));
  });

  it.each<[string, JsonObject, string[]]>([
    ['no kind', { value: 'v' }, ['kind']],
    ['another kind', { kind: 'password', value: 'v' }, ['kind']],
    ['no secret', { kind: 'api-key' }, ['value']],
    ['a secret that no header can carry', { kind: 'bearer', token: 'a\r\nb: c' }, ['token']],
    ['a secret with a space', { kind: 'api-key', value: 'a b' }, ['value']],
    ['an empty secret', { kind: 'basic', username: 'u', password: '' }, ['password']],
    ['a user name with a colon', { kind: 'basic', username: 'u:v', password: 'p' }, ['username']],
    ['a field of another kind', { kind: 'bearer', token: 't', username: 'u' }, ['username']],
    ['a header that means something else', { kind: 'api-key', parameter: 'Host', value: 'v' }, ['parameter']],
    ['no name of a header', { kind: 'api-key', parameter: 'X Key', value: 'v' }, ['parameter']],
    ['a bad place', { kind: 'api-key', in: 'body', value: 'v' }, ['in']],
    [
      'bad hosts',
      { kind: 'bearer', token: 't', hosts: ['*.example.com', 'https://a.b/path', 3] },
      ['hosts[0]', 'hosts[1]', 'hosts[2]'],
    ],
    ['no hosts in a list', { kind: 'bearer', token: 't', hosts: [] }, ['hosts']],
    ['no client', { ...oauth2('s'), clientId: '' }, ['clientId']],
    ['a token URL that is none', { ...oauth2('s'), tokenUrl: 'login' }, ['tokenUrl']],
    ['a token URL with a password', { ...oauth2('s'), tokenUrl: 'https://u:p@login.example.com/' }, ['tokenUrl']],
    ['a token URL in a private network', { ...oauth2('s'), tokenUrl: 'http://169.254.169.254/token' }, ['tokenUrl']],
    ['a scope with a space', { ...oauth2('s'), scopes: ['a', 'b c'] }, ['scopes[1]']],
  ])('refuses %s, naming the field and no value', async (_what, fields, paths) => {
    const reply = await api.call<{ errors: { path: string; detail: string }[] }>('POST', '/credentials', {
      name: unique('c'),
      ...fields,
    });
    expect(reply.status).toBe(400);
    expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(reply.body.errors.map(({ path }) => path)).toEqual(paths);
  });

  it.each([[null], [[]], ['text'], [{ name: '-x', kind: 'bearer', token: 't' }]])('refuses %j', async (body) => {
    expect((await api.call('POST', '/credentials', JSON.stringify(body))).status).toBe(400);
  });

  it('refuses a name that is taken', async () => {
    const name = await keepCredential(api, { kind: 'bearer', token: 't' });
    expect((await api.call('POST', '/credentials', { name, kind: 'bearer', token: 't' })).status).toBe(409);
  });

  it('does not delete what a workflow names, and says which', async () => {
    const name = await keepCredential(api, { kind: 'bearer', token: 't' });
    const workflow = await api.save(linear(unique('w'), external('e', 'https://agent.example.com', { auth: name })));
    const refused = await api.call('DELETE', `/credentials/${name}`);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ errors: [{ path: `workflows/${workflow.name}` }] });
    expect((await api.call('DELETE', `/workflows/${workflow.name}`)).status).toBe(204);
    expect((await api.call('DELETE', `/credentials/${name}`)).status).toBe(204);
  });

  it('needs the scope admin, and is audited without a body', async () => {
    const key = await api.call<{ key: string }>('POST', '/keys', { name: 'bob', scopes: ['agents', 'workflows'] });
    const bob = new Api(stage.parley.url, { 'x-api-key': key.body.key });
    const secret = newSecret();
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', '/x'],
      ['PUT', '/x'],
      ['DELETE', '/x'],
    ] as const) {
      const reply = await bob.call(method, `/credentials${path}`, method === 'GET' ? undefined : { token: secret });
      expect(reply.status).toBe(403);
    }
    const name = await keepCredential(api, { kind: 'bearer', token: secret });
    expect((await api.call('DELETE', `/credentials/${name}`)).status).toBe(204);
    const line = await until(() =>
      stage.parley
        .logs()
        .split('\n')
        .find((it) => it.includes('DELETE /api/credentials/:name') && it.includes(name)),
    );
    expect(line).toContain('"caller":"ann"');
    expect(stage.parley.logs()).not.toContain(secret);
  });
});
