import { randomBytes } from 'node:crypto';
import { detail, rest, rpc, sendParams, sendTask } from '../support/a2a.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { areFactsDropped, DROPS_FACTS } from '../support/dropped-facts.js';
import { GatewayClient, refusedUpgrade } from '../support/gateway-client.js';
import { type Parley, startParley, startRefused } from '../support/parley.js';
import { metric } from '../support/service-metrics.js';
import { SseReader } from '../support/sse.js';
import { useStage } from '../support/stage.js';
import { READY_OR_LATE } from '../support/until-ready.js';
import { until } from '../support/until.js';
import { Api, echo, input, linear, output, unique } from '../support/workflow.js';

const ann = testCaller('ann');
const stage = useStage({ env: { ...apiKeyEnv(ann), LOG_LEVEL: 'debug' } });

interface Key {
  id: string;
  name: string;
  scopes: string[];
  key: string;
  createdBy?: string;
  endsAt?: string;
}

let api: Api;

beforeAll(() => {
  api = new Api(stage.parley.url, ann.headers);
});

async function makeKey(name: string, scopes?: string[]): Promise<Key> {
  const reply = await api.call<Key>('POST', '/keys', { name, scopes });
  expect(reply.status).toBe(201);
  return reply.body;
}

function withKey(key: string): Api {
  return new Api(stage.parley.url, { 'x-api-key': key });
}

describe('AUTH_MODE=api-key', () => {
  it('lets a seeded caller in, by either header', async () => {
    const workflow = await api.save(linear(unique('w'), input('in'), echo('a'), output('out')));
    for (const headers of [ann.headers, { 'x-api-key': ann.key }, { authorization: `bearer ${ann.key}` }]) {
      expect((await new Api(stage.parley.url, headers).call('GET', `/workflows/${workflow.name}`)).status).toBe(200);
      const task = await sendTask(api.base(workflow.name), 'hello', { headers });
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    }
    const run = await api.ended(await api.start(workflow.name, { in: 'x' }));
    expect(run.status).toBe('completed');
  });

  it.each([
    ['nothing', {}],
    ['another key', { authorization: `Bearer ${randomBytes(20).toString('hex')}` }],
    ['another scheme', { authorization: `Basic ${ann.key}` }],
    ['a forged node call', { authorization: `Parley-Node ${btoa('{"t":"","o":"ann","p":["admin"],"e":9e15}')}.AAAA` }],
    ['no key at all', { 'x-api-key': '' }],
  ])('refuses whoever sends %s, in the shape of each surface', async (_what, given: Record<string, string>) => {
    const problem = await new Api(stage.parley.url, given).call('GET', '/workflows');
    expect(problem.status).toBe(401);
    expect(problem.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(problem.headers.get('www-authenticate')).toMatch(/^Bearer realm="parley"/);
    expect(problem.body).toMatchObject({
      status: 401,
      title: 'Unauthorized',
      detail: 'Valid credentials are required',
    });

    const base = `${stage.parley.url}/a2a`;
    const call = await rpc(base, 'SendMessage', sendParams('hi'), { headers: given });
    expect([call.status, call.body.id, call.body.error?.code]).toEqual([401, null, -31401]);
    expect(call.headers.get('www-authenticate')).toMatch(/^Bearer/);
    const plain = await rest(base, 'GET', '/tasks', { headers: given });
    expect([plain.status, plain.body.error?.status]).toEqual([401, 'UNAUTHENTICATED']);
    expect(detail(plain.body.error?.details, 'ErrorInfo')).toMatchObject({
      reason: 'UNAUTHENTICATED',
      domain: 'parley',
    });
    expect(plain.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect((await refusedUpgrade(`${stage.parley.url}/events`, given)).status).toBe(401);
  });

  it.each(['/api', '/api/nothing', '/a2a/agents', '/api/events', '/a2a/tasks/x', '/a2a/nothing'])(
    'hides %s from strangers',
    async (path) => expect((await fetch(stage.parley.url + path)).status).toBe(401),
  );

  it.each([
    '/health/live',
    '/health/ready',
    '/health/startup',
    '/metrics',
    '/docs',
    '/docs-json',
    '/.well-known/agent-card.json',
    '/a2a/.well-known/agent-card.json',
    '/a2a/agent-card',
  ])('shows %s to everyone, whatever they send', async (path) => {
    const shown = path === '/health/ready' ? READY_OR_LATE : [200];
    for (const headers of [{}, { authorization: 'Bearer of-bad-news-and-no-key' }]) {
      expect(shown).toContain((await fetch(stage.parley.url + path, { headers })).status);
    }
  });

  it.each(['/', '/workflows/mine'])('shows everyone the console at %s, which asks for a key', async (path) => {
    const page = await fetch(stage.parley.url + path);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
  });

  it('says on every card how to get in', async () => {
    const workflow = await api.save(linear(unique('w'), input('in'), output('out')));
    for (const base of [`${stage.parley.url}/a2a`, api.base(workflow.name), api.base(workflow.name, 'in')]) {
      const { body } = await rest(base, 'GET', '/.well-known/agent-card.json');
      expect(body).toMatchObject({
        securitySchemes: {
          bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
          apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
        },
        securityRequirements: [
          { schemes: { bearer: { list: ['agents'] } } },
          { schemes: { apiKey: { list: ['agents'] } } },
        ],
      });
    }
  });

  it.each([{}, { 'a2a-version': '0.3' }])('says so to readers of 0.3 too, with %j', async (headers: object) => {
    const response = await fetch(`${stage.parley.url}/.well-known/agent-card.json`, { headers: { ...headers } });
    expect(response.headers.get('vary')).toContain('A2A-Version');
    expect(await response.json()).toMatchObject({
      securitySchemes: { bearer: { type: 'http' }, apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      security: [{ bearer: [] }, { apiKey: [] }],
    });
  });
});

describe('/api/keys', () => {
  it('makes a key that is shown once and works at once', async () => {
    const made = await makeKey('bob');
    expect(made).toMatchObject({ name: 'bob', scopes: ['agents'], createdBy: 'ann' });
    expect((await withKey(made.key).call('GET', '/runs')).status).toBe(200);
    const list = await api.call<{ keys: Key[] }>('GET', '/keys');
    expect(list.body.keys.find((it) => it.id === made.id)).toMatchObject({ name: 'bob' });
    expect(list.text).not.toContain(made.key);
    expect(list.text).not.toContain(ann.key);
    const rows = await stage.database.query('SELECT * FROM api_key');
    for (const key of [made.key, ann.key]) expect(JSON.stringify(rows)).not.toContain(key);
  });

  it('lets a key do what its scopes say, and says which one is missing', async () => {
    const [agents, workflows, admin] = await Promise.all(
      ['agents', 'workflows', 'admin'].map(async (scope) => withKey((await makeKey('carl', [scope])).key)),
    );
    const definition = linear(unique('w'), input('in'), output('out'));
    const tries: [string, string, unknown, boolean[]][] = [
      ['GET', '/workflows', undefined, [true, true, false]],
      ['POST', '/workflows', definition, [false, true, false]],
      ['POST', `/workflows/${definition.name}/runs`, { inputs: {} }, [true, false, false]],
      ['DELETE', `/workflows/${definition.name}`, undefined, [false, true, false]],
      ['GET', '/runs', undefined, [true, false, false]],
      ['GET', '/keys', undefined, [false, false, true]],
      ['POST', '/tickets', undefined, [true, false, false]],
    ];
    for (const [method, path, body, allowed] of tries) {
      for (const [index, caller] of [agents!, workflows!, admin!].entries()) {
        const { status } = await caller.call(method, path, body);
        expect([method, path, index, status === 403]).toEqual([method, path, index, !allowed[index]]);
      }
    }
    const denied = await workflows!.call('GET', '/runs');
    expect(denied.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="agents"');
    expect(denied.body).toMatchObject({ status: 403, detail: 'The credentials lack the scope agents' });
    const call = await rpc(`${stage.parley.url}/a2a`, 'ListTasks', {}, { headers: workflows!.headers });
    expect([call.status, call.body.error?.code]).toEqual([403, -31403]);
    expect((await refusedUpgrade(`${stage.parley.url}/events`, workflows!.headers)).status).toBe(403);
  });

  it('rotates a key: the new one works, the old one ends now or after the overlap', async () => {
    const first = await makeKey('dora', ['agents', 'workflows']);
    const { body: second } = await api.call<Key>('POST', `/keys/${first.id}/rotate`);
    expect(second).toMatchObject({ name: 'dora', scopes: ['agents', 'workflows'] });
    expect((await withKey(first.key).call('GET', '/runs')).status).toBe(401);
    const { body: third } = await api.call<Key>('POST', `/keys/${second.id}/rotate`, { overlapSeconds: 600 });
    for (const { key } of [second, third]) expect((await withKey(key).call('GET', '/runs')).status).toBe(200);
    expect((await api.call('POST', `/keys/${first.id}/rotate`)).status).toBe(404);
  });

  it('does not revoke the last key that may manage keys', async () => {
    await makeKey('erin', ['admin']);
    const { keys } = (await api.call<{ keys: Key[] }>('GET', '/keys')).body;
    const admins = keys.filter(({ scopes, endsAt }) => scopes.includes('admin') && endsAt === undefined);
    const last = admins.find(({ name }) => name === ann.name)!;
    const others = admins.filter((key) => key !== last);
    const answers = await Promise.all(others.map(({ id }) => api.call('DELETE', `/keys/${id}`)));
    expect(answers.map(({ status }) => status)).toEqual(others.map(() => 204));
    const refused = await api.call('DELETE', `/keys/${last.id}`);
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringContaining('last valid key with the scope admin'),
    ]);
    expect((await api.call('GET', '/keys')).status).toBe(200);
  });

  it('tells of each revoked and replaced key once, when it has ended, in a count and in the audit log', async () => {
    const count = (): Promise<number> => metric(stage.parley, 'parley_keys_revoked_total');
    const before = await count();
    const name = unique('told');
    const first = await makeKey(name);
    const { body: second } = await api.call<Key>('POST', `/keys/${first.id}/rotate`);
    for (const status of [204, 204]) expect((await api.call('DELETE', `/keys/${second.id}`)).status).toBe(status);
    for (const { id } of [first, second]) await api.call('POST', `/keys/${id}/rotate`);
    const told = (): string[] =>
      stage.parley
        .logs()
        .split('\n')
        .filter((line) => line.includes('A key was revoked') && line.includes(`"name":"${name}"`));
    const facts = areFactsDropped ? 0 : 2;
    await until(async () => told().length >= facts && (await count()) >= before + facts, { what: 'both facts' });
    expect([told().length, await count()]).toEqual([facts, before + facts]);
  });

  it.each([
    [{}, 'name'],
    [{ name: 'a b' }, 'name'],
    [{ name: 'x', scopes: [] }, 'scopes'],
    [{ name: 'x', scopes: ['root'] }, 'scopes.0'],
    [{ name: 'x', key: 'mine' }, 'body'],
    [[], 'body'],
  ])('refuses %j and names what is wrong', async (body, field) => {
    const reply = await api.call<{ errors: { path: string }[] }>('POST', '/keys', body);
    expect([reply.status, reply.body.errors.map((it) => it.path)]).toEqual([400, [field]]);
  });

  it.each(['nope', '00000000-0000-4000-8000-000000000000'])('knows no key %s', async (id) => {
    for (const [method, path] of [
      ['DELETE', `/keys/${id}`],
      ['POST', `/keys/${id}/rotate`],
    ] as const) {
      expect((await api.call(method, path)).body).toMatchObject({ status: 404, title: 'Not Found' });
    }
  });
});

describe('tickets', () => {
  it('open the WebSocket of a browser, as its caller, and nothing else', async () => {
    const { body } = await api.call<{ ticket: string; protocols: string[] }>('POST', '/tickets');
    const client = await GatewayClient.open(stage.parley.url, {}, { protocols: body.protocols });
    expect(client.socket.protocol).toBe('parley.events');
    const workflow = await api.save(linear(unique('w'), input('in'), output('out')));
    const runId = await api.start(workflow.name, { in: 'x' });
    await until(() => client.events.some((it) => it.taskId === runId), { what: 'the run' });
    await client.cut();
    for (const headers of [
      { authorization: `Bearer ${body.ticket}` },
      { authorization: `Parley-Node ${body.ticket}` },
    ]) {
      expect((await new Api(stage.parley.url, headers).call('GET', '/runs')).status).toBe(401);
    }
  });

  it('that are not ours open nothing', async () => {
    const client = GatewayClient.open(stage.parley.url, {}, { protocols: ['parley.events', 'parley.ticket.e30.AA'] });
    await expect(client).rejects.toThrow(/No hello/);
  });
});

describe('replicas, one of which drops all facts', () => {
  let other: Parley;

  beforeAll(async () => {
    const env = { ...apiKeyEnv(ann, testCaller('eve')), ...DROPS_FACTS };
    other = await startParley({ databaseUrl: stage.database.url, env });
  });

  afterAll(() => other.stop());

  it('know each other’s keys at once, and soon forget a revoked one', async () => {
    const made = await makeKey('fred');
    const there = new Api(other.url, { authorization: `Bearer ${made.key}` });
    expect((await there.call('GET', '/runs')).status).toBe(200);
    expect((await api.call('DELETE', `/keys/${made.id}`)).status).toBe(204);
    expect((await withKey(made.key).call('GET', '/runs')).status).toBe(401);
    const refused = async (): Promise<boolean> => (await there.call('GET', '/runs')).status === 401;
    await until(refused, { what: 'the revocation' });
    expect((await api.call('DELETE', `/keys/${made.id}`)).status).toBe(204);
  });

  it.each(['here', 'there'])('end what is open for a key that is revoked %s', async (place) => {
    const revoking = place === 'here' ? api : new Api(other.url, ann.headers);
    const made = await makeKey('jane');
    const headers = { authorization: `Bearer ${made.key}` };
    const { body } = await new Api(other.url, headers).call<{ protocols: string[] }>('POST', '/tickets');
    const sockets = await Promise.all([
      GatewayClient.open(other.url, {}, { headers }),
      GatewayClient.open(stage.parley.url, {}, { protocols: body.protocols }),
    ]);
    const stream = await SseReader.open(`${other.url}/api/events`, { headers });
    const mine = await GatewayClient.open(other.url, {}, { headers: ann.headers });
    for (const id of ['a', 'b']) await sockets[0].subscribe(id, { streams: 'task' });
    await revoking.call('DELETE', `/keys/${made.id}`);
    await until(() => sockets.every((it) => it.closed?.code === 1008), { what: 'the sockets to close' });
    const limit = { what: 'the stream to end' };
    while ((await stream.next(limit)) !== undefined);
    expect(mine.closed).toBeUndefined();
    await mine.cut();
  });

  it('that start again bring no revoked key back', async () => {
    const { body } = await api.call<{ keys: Key[] }>('GET', '/keys');
    expect(body.keys.filter((it) => it.name === 'ann')).toHaveLength(1);
    const eve = body.keys.find((it) => it.name === 'eve')!;
    expect(eve.scopes).toEqual(['agents', 'workflows', 'prompts', 'admin']);
    await api.call('DELETE', `/keys/${eve.id}`);
    const seeded = testCaller('gina');
    const third = await startParley({ databaseUrl: stage.database.url, env: apiKeyEnv(seeded) });
    await third.stop();
    const after = await api.call<{ keys: Key[] }>('GET', '/keys');
    expect(after.body.keys.find((it) => it.name === 'eve')?.endsAt).toBeDefined();
    expect((await new Api(stage.parley.url, seeded.headers).call('GET', '/keys')).status).toBe(200);
  });
});

describe('what is written', () => {
  it('is one line for each management call, with who, what and the outcome', async () => {
    const name = unique('audited');
    await api.save(linear(name, input('in'), output('out')));
    await withKey((await makeKey('hank')).key).call('DELETE', `/workflows/${name}`);
    await new Api(stage.parley.url).call('DELETE', `/workflows/${name}`);
    await api.call('DELETE', `/workflows/${name}`);
    const entries = () =>
      stage.parley
        .logs()
        .split('\n')
        .filter((line) => line.includes('"audit":{'))
        .map((line) => (JSON.parse(line) as { audit: { target: { name?: string } } }).audit)
        .filter((it) => it.target.name === name);
    await until(() => entries().length === 3, { what: 'the audit log' });
    const entry = { action: 'DELETE /api/workflows/:name', tenant: '', target: { name } };
    expect(entries()).toEqual([
      { ...entry, caller: 'hank', outcome: 'denied', status: 403 },
      { ...entry, caller: '', outcome: 'denied', status: 401 },
      { ...entry, caller: 'ann', outcome: 'done', status: 204 },
    ]);
  });

  it('names the runs that an action on several runs changed', async () => {
    const { name } = await api.save(linear(unique('w'), input('in'), echo('a'), output('out')));
    const ids = [await api.start(name, { in: 'x' }), await api.start(name, { in: 'y' })];
    for (const id of ids) await api.ended(id);
    for (const dryRun of [true, false]) await api.call('POST', '/runs/rerun', { ids: [...ids, 'nope'], dryRun });
    const details = () =>
      stage.parley
        .logs()
        .split('\n')
        .filter((line) => line.includes('"POST /api/runs/rerun"'))
        .map((line) => (JSON.parse(line) as { audit: { detail?: object } }).audit.detail);
    await until(() => details().length === 2, { what: 'the audit log' });
    expect(details()).toEqual([
      { dryRun: true, counts: { possible: 2, refused: 1 }, ids: [] },
      { dryRun: false, counts: { done: 2, refused: 1 }, ids },
    ]);
  });

  it('has no secret in it, at any level', async () => {
    const made = await makeKey('ida');
    await withKey(made.key).call('GET', '/runs');
    const { body } = await api.call<{ ticket: string }>('POST', '/tickets');
    await api.call('POST', '/keys', { name: made.key, scopes: [made.key] });
    const wrong = `wrong-${randomBytes(20).toString('hex')}`;
    await withKey(wrong).call('GET', '/runs');
    await fetch(`${stage.parley.url}/a2a/tasks`, { headers: { authorization: `Bearer ${wrong}` } });
    await until(() => stage.parley.logs().includes('/a2a/tasks'), { what: 'the last request in the log' });
    expect(stage.parley.logs()).toContain('/api/keys');
    for (const secret of [ann.key, made.key, body.ticket, wrong]) expect(stage.parley.logs()).not.toContain(secret);
  });

  it('says which variable is bad, never its value', async () => {
    const env = { AUTH_MODE: 'api-key', AUTH_API_KEYS: 'ann:tooshort' };
    const { code, logs } = await startRefused({ databaseUrl: stage.database.url, env });
    expect(code).toBe(1);
    expect(logs.trim()).toBe('AUTH_API_KEYS: each key must have at least 16 characters');
  });
});
