import { randomBytes } from 'node:crypto';
import { rest, rpc, sendParams, sendTask } from '../support/a2a.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { FakeLlm } from '../support/fake-llm.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { type Parley, startParley, startRefused } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { Api, echo, external, linear, script, unique } from '../support/workflow.js';

let database: TestDatabase;
const secret = (what: string): string => `${what}-${randomBytes(12).toString('hex')}`;

beforeAll(async () => {
  database = await freshDatabase();
});

afterAll(() => database?.drop());

/** Fails with the line that has a secret in it. */
function expectNone(parley: Pick<Parley, 'logs'>, secrets: Record<string, string>): void {
  const lines = parley.logs().split('\n');
  expect(lines.length).toBeGreaterThan(3);
  const told = Object.entries(secrets).flatMap(([name, value]) =>
    lines.filter((line) => line.includes(value)).map((line) => `${name}: ${line.slice(0, 500)}`),
  );
  expect(told).toEqual([]);
}

/** What may go wrong with credentials in hand: refused, unknown, malformed, broken off. */
async function mistakes(url: string, headers: Record<string, string>): Promise<void> {
  const api = new Api(url, headers);
  const base = `${url}/a2a`;
  await api.call('GET', '/nothing');
  await api.call('POST', '/workflows', '{"broken');
  await api.call('POST', '/workflows', { name: 'no nodes' });
  await rpc(base, 'Nothing', {}, { headers });
  await rpc(base, 'SendMessage', sendParams('x', { fields: { taskId: 'none' } }), { headers });
  await rest(base, 'GET', '/tasks/%ff', { headers });
  await rest(base, 'POST', '/message:send', { headers: { ...headers, 'content-type': 'text/plain' }, body: 'x' });
  await fetch(`${url}/nothing`, { headers });
}

describe.each(['debug', 'trace'])('LOG_LEVEL=%s', (level) => {
  it('has no key, token, credential or password of anybody, whatever fails', async () => {
    const caller = testCaller('ann');
    const llm = await FakeLlm.start();
    const hook = await WebhookReceiver.start();
    const llmKey = secret('llm-key');
    const parley = await startParley({
      databaseUrl: database.url,
      env: { ...apiKeyEnv(caller), LOG_LEVEL: level, LLM_BASE_URL: llm.url, LLM_API_KEY: llmKey, LLM_MODEL: 'm' },
    });
    const api = new Api(parley.url, caller.headers);
    const made = (await api.call<{ key: string; id: string }>('POST', '/keys', { name: 'bob' })).body;
    const rotated = (await api.call<{ key: string }>('POST', `/keys/${made.id}/rotate`)).body.key;
    const ticket = (await api.call<{ ticket: string }>('POST', '/tickets')).body.ticket;
    const wrong = secret('wrong-key');
    const token = secret('push-token');
    const credentials = secret('push-credentials');

    for (const key of [caller.key, rotated, wrong]) {
      await mistakes(parley.url, { authorization: `Bearer ${key}` });
      await mistakes(parley.url, { 'x-api-key': key });
    }
    await fetch(`${parley.url}/api/events?ticket=${ticket}`, { headers: { 'sec-websocket-protocol': ticket } });

    const { name } = await api.save({ name: unique('secrets'), nodes: [script('q', { ask: 'more?' })], edges: [] });
    const base = api.base(name, 'q');
    const webhook = { url: hook.url, token, authentication: { scheme: 'Bearer', credentials } };
    const configuration = { taskPushNotificationConfig: webhook };
    hook.statuses = [500];
    const task = await sendTask(base, 'hi', { headers: caller.headers, configuration });
    await until(() => hook.accepted.length > 1, { what: 'the notifications' });
    await hook.stop();
    const gone = { ...webhook, taskId: task.id, id: 'gone', url: `${hook.url}/gone` };
    await rpc(base, 'CreateTaskPushNotificationConfig', gone, { headers: caller.headers });
    await sendTask(base, 'more', { headers: caller.headers, fields: { taskId: task.id } });
    await until(async () => (await api.call('GET', '/deliveries?status=pending')).text.includes('lastError'), {
      what: 'a failed attempt',
    });
    const bad = { ...gone, authentication: { scheme: 'not a scheme', credentials } };
    await rpc(base, 'CreateTaskPushNotificationConfig', bad, { headers: caller.headers });

    await api.finish(linear(unique('llm'), echo('a', { model: 'm' })));
    llm.answer = () => 401;
    expect((await api.finish(linear(unique('llm'), echo('a', { model: 'm' })))).status).toBe('failed');
    await llm.stop();
    expect((await api.finish(linear(unique('llm'), echo('a', { model: 'm' })))).status).toBe('failed');
    await api.finish(linear(unique('far'), external('x', 'http://127.0.0.1:9/', { timeout: 1 })));
    await parley.stop();
    const all = { caller: caller.key, made: made.key, rotated, ticket, wrong, token, credentials, llmKey };
    expectNone(parley, all);
  });

  it('has no token of an identity provider', async () => {
    const provider = await IdentityProvider.start();
    const parley = await startParley({ databaseUrl: database.url, env: { ...provider.env(), LOG_LEVEL: level } });
    const good = await provider.token({ sub: 'ann', org: 'acme' });
    const late = await provider.token({ sub: 'ann', org: 'acme', exp: 1 });
    for (const token of [good, late]) await mistakes(parley.url, { authorization: `Bearer ${token}` });
    await provider.stop();
    const unverifiable = await provider.token({ sub: 'eve', org: 'acme' });
    await mistakes(parley.url, { authorization: `Bearer ${unverifiable}` });
    await parley.stop();
    const signatures = { good, late, unverifiable, part: good.split('.')[2]! };
    expectNone(parley, signatures);
  });

  it('has no password of the database, also where the database goes away', async () => {
    const own = await freshDatabase();
    const password = secret('password');
    const role = unique('role');
    await own.query(`CREATE ROLE "${role}" LOGIN SUPERUSER PASSWORD '${password}'`);
    const url = new URL(own.url);
    url.username = role;
    url.password = password;
    const parley = await startParley({ databaseUrl: url.href, env: { LOG_LEVEL: level } });
    const api = new Api(parley.url);
    const { name } = await api.save(linear(unique('w'), echo('a')));
    await own.query(`ALTER ROLE "${role}" NOLOGIN`);
    const sessions =
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = $1';
    await own.query(sessions, [role]);
    await api.call('POST', `/workflows/${name}/runs`, { inputs: {} });
    await until(() => /"level":"(warn|error)"/.test(parley.logs()), { what: 'the log to tell of it' });
    await parley.kill9();
    expectNone(parley, { password });
    const refused = await startRefused({ databaseUrl: url.href, env: { LOG_LEVEL: level } });
    expect([refused.code, refused.logs.includes(password)]).toEqual([1, false]);
    await own.query(`DROP OWNED BY "${role}" CASCADE`).catch(() => undefined);
    await own.drop();
  });
});
