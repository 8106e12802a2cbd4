import { apiKeyEnv, testCaller } from '../support/callers.js';
import { OF_CONSOLE, signIn, type SignedIn, statusFor } from '../support/console-session.js';
import { databaseText } from '../support/database-text.js';
import { GatewayClient, refusedUpgrade } from '../support/gateway-client.js';
import { type Parley, startParley } from '../support/parley.js';
import { SseReader } from '../support/sse.js';
import { useStage } from '../support/stage.js';
import { useTenants } from '../support/tenant-stage.js';
import { until } from '../support/until.js';
import { Api, input, linear, unique } from '../support/workflow.js';

const ann = testCaller('ann');
const LISTED = 'https://app.example.com';
const env = { ...apiKeyEnv(ann), CORS_ORIGINS: LISTED, TRUSTED_PROXIES: '127.0.0.1', LOG_LEVEL: 'debug' };
const stage = useStage({ env });
let other: Parley;
let api: Api;

beforeAll(async () => {
  other = await startParley({ databaseUrl: stage.database.url, env });
  api = new Api(stage.parley.url, ann.headers);
});

afterAll(() => other?.stop());

interface MadeKey {
  id: string;
  key: string;
}

async function makeKey(name: string, scopes = ['agents']): Promise<MadeKey> {
  return (await api.call<MadeKey & Record<string, never>>('POST', '/keys', { name, scopes })).body;
}

const bearer = ({ key }: { key: string }): Record<string, string> => ({ authorization: `Bearer ${key}` });

async function expectRefusedEverywhere({ headers }: SignedIn): Promise<void> {
  const urls = [stage.parley.url, other.url];
  const statuses = (): Promise<number[]> => Promise.all(urls.map((url) => statusFor(url, headers)));
  await until(async () => (await statuses()).every((status) => status === 401), { what: 'the refusal everywhere' });
}

describe('a session of the console', () => {
  it('identifies its caller at every replica, with the scopes of the key', async () => {
    const { headers } = await signIn(stage.parley.url, bearer(await makeKey('reader')));
    for (const url of [stage.parley.url, other.url]) {
      const mine = new Api(url, headers);
      expect((await mine.call('GET', '/session')).body).toEqual({
        authentication: 'api-key',
        caller: 'reader',
        tenant: '',
        scopes: ['agents'],
        signedIn: true,
        endsAt: expect.any(String),
      });
      expect((await mine.call('GET', '/runs')).status).toBe(200);
      expect((await mine.call('POST', '/workflows', linear(unique('w'), input('in')))).status).toBe(403);
      expect((await mine.call('GET', '/keys')).status).toBe(403);
    }
  });

  it('is a cookie for twelve hours that scripts and other sites never get', async () => {
    const { setCookie } = await signIn(stage.parley.url, ann.headers);
    expect(setCookie).toMatch(/^parley-session=[\w-]{43}; Path=\/; Max-Age=43\d{3}; HttpOnly; SameSite=Strict$/);
  });

  it('is for its host and HTTPS alone where the browser reaches the service over HTTPS', async () => {
    const https = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'parley.example.com' };
    const { setCookie, headers, token } = await signIn(stage.parley.url, { ...ann.headers, ...https });
    expect(setCookie).toMatch(/^__Host-parley-session=[\w-]{43}; Path=\/; .*; HttpOnly; SameSite=Strict; Secure$/);
    expect(await statusFor(stage.parley.url, { ...headers, ...https })).toBe(200);
    // A page of another host of the domain can set a cookie of the plain name.
    const planted = { ...OF_CONSOLE, ...https, cookie: `parley-session=${token}` };
    expect(await statusFor(stage.parley.url, planted)).toBe(401);
  });

  it('counts for nothing that a page of another origin can send', async () => {
    const { headers, token } = await signIn(stage.parley.url, ann.headers);
    const { cookie } = headers as { cookie: string };
    const own = new URL(stage.parley.url).origin;
    const sent = async (given: Record<string, string>): Promise<number[]> => {
      const mine = new Api(stage.parley.url, { cookie, ...given });
      const { status } = await mine.call('POST', '/workflows', linear(unique('w'), input('in')));
      return [(await mine.call('GET', '/runs')).status, status];
    };
    expect(await sent({ ...OF_CONSOLE, origin: own, 'sec-fetch-site': 'same-origin' })).toEqual([200, 201]);
    expect(await sent({})).toEqual([401, 401]);
    expect(await sent({ 'x-requested-with': 'XMLHttpRequest' })).toEqual([401, 401]);
    expect(await sent({ ...OF_CONSOLE, origin: 'http://127.0.0.1:1' })).toEqual([403, 403]);
    expect(await sent({ ...OF_CONSOLE, 'sec-fetch-site': 'same-site' })).toEqual([403, 403]);
    expect(await sent({ ...OF_CONSOLE, origin: LISTED })).toEqual([401, 401]);
    expect(await sent({ ...OF_CONSOLE, origin: LISTED, 'sec-fetch-site': 'cross-site' })).toEqual([401, 401]);
    expect(await sent({ ...OF_CONSOLE, cookie: `${cookie}; ${cookie}` })).toEqual([401, 401]);
    for (const value of [token, `parley.ticket.${token}`])
      expect(await statusFor(stage.parley.url, { authorization: `Bearer ${value}` })).toBe(401);
  });

  it('opens a WebSocket by a ticket alone, never by the cookie', async () => {
    const { headers } = await signIn(stage.parley.url, ann.headers);
    const origin = new URL(stage.parley.url).origin;
    expect((await refusedUpgrade(`${stage.parley.url}/events`, { ...headers, origin })).status).toBe(401);
    const mine = new Api(stage.parley.url, headers);
    const { body } = await mine.call<{ protocols: string[] }>('POST', '/tickets');
    const client = await GatewayClient.open(other.url, {}, { protocols: body.protocols });
    await client.cut();
  });

  it('gives way to a key that the request has, be it valid or not', async () => {
    const { headers } = await signIn(stage.parley.url, ann.headers);
    const bob = bearer(await makeKey('bob'));
    const { body } = await new Api(stage.parley.url, { ...headers, ...bob }).call('GET', '/session');
    expect(body).toMatchObject({ caller: 'bob', signedIn: false });
    expect(await statusFor(stage.parley.url, { ...headers, authorization: 'Bearer wrong' })).toBe(401);
  });

  it('creates no other session', async () => {
    const { headers } = await signIn(stage.parley.url, ann.headers);
    const { status, body } = await new Api(stage.parley.url, headers).call('POST', '/session');
    expect([status, body['detail']]).toEqual([409, 'A session cannot create another one']);
  });

  it('is neither in the database nor in a log', async () => {
    const { token, headers } = await signIn(stage.parley.url, ann.headers);
    expect(await statusFor(stage.parley.url, headers)).toBe(200);
    expect(await databaseText(stage.database)).not.toContain(token);
    await until(() => stage.parley.logs().includes('/api/session'), { what: 'the request in the log' });
    expect(stage.parley.logs()).not.toContain(token);
  });
});

describe('the end of a session', () => {
  it('by its key closes its streams and sockets, and is known to every replica', async () => {
    const made = await makeKey('jane');
    const session = await signIn(stage.parley.url, bearer(made));
    const tickets = await Promise.all(
      [1, 2].map(() => new Api(other.url, session.headers).call<{ protocols: string[] }>('POST', '/tickets')),
    );
    const [used, unused] = tickets.map(({ body }) => body.protocols);
    const socket = await GatewayClient.open(other.url, {}, { protocols: used! });
    const stream = await SseReader.open(`${stage.parley.url}/api/events`, { headers: session.headers });
    expect((await api.call('DELETE', `/keys/${made.id}`)).status).toBe(204);
    await expectRefusedEverywhere(session);
    await until(() => socket.closed?.code === 1008, { what: 'the socket to close' });
    while ((await stream.next({ what: 'the stream to end' })) !== undefined);
    await expect(GatewayClient.open(other.url, {}, { protocols: unused! })).rejects.toThrow('No hello');
  });

  it('by signing out takes its tickets along, and no other session of the caller', async () => {
    const [gone, kept] = [await signIn(stage.parley.url, ann.headers), await signIn(stage.parley.url, ann.headers)];
    const mine = new Api(other.url, gone.headers);
    const { body } = await mine.call<{ protocols: string[] }>('POST', '/tickets');
    const { status, headers } = await mine.call('DELETE', '/session');
    expect(status).toBe(200);
    expect(headers.getSetCookie()[0]).toMatch(/^parley-session=; Path=\/; Max-Age=0;/);
    await expectRefusedEverywhere(gone);
    await expect(GatewayClient.open(stage.parley.url, {}, { protocols: body.protocols })).rejects.toThrow('No hello');
    expect(await statusFor(other.url, kept.headers)).toBe(200);
  });

  it('by time is deleted by the upkeep', async () => {
    const caller = unique('late');
    const session = await signIn(stage.parley.url, bearer(await makeKey(caller)));
    await stage.database.query(`UPDATE console_session SET ends_at = now() WHERE owner = $1`, [caller]);
    await expectRefusedEverywhere(session);
    await until(
      async () => {
        await stage.database.query(`SELECT graphile_worker.add_job('access.sessions', job_key => 'access.sessions')`);
        return (await stage.database.query('SELECT FROM console_session WHERE owner = $1', [caller])).length === 0;
      },
      { what: 'the upkeep' },
    );
  });

  it('comes for the oldest of a caller when there are more than twenty', async () => {
    const key = bearer(await makeKey(unique('many')));
    const first = await signIn(stage.parley.url, key);
    const second = await signIn(stage.parley.url, key);
    await Promise.all(Array.from({ length: 18 }, () => signIn(other.url, key)));
    expect(await statusFor(stage.parley.url, first.headers)).toBe(200);
    await signIn(stage.parley.url, key);
    await expectRefusedEverywhere(first);
    expect(await statusFor(stage.parley.url, second.headers)).toBe(200);
  });

  it('has to come before there can be more than ten thousand in all', async () => {
    await stage.database.query(`
      INSERT INTO console_session (digest, tenant, owner, permissions, method, ends_at)
      SELECT 'd' || n, '', 'o' || n, '{}', 'api-key', now() + interval '1 hour' FROM generate_series(1, 10000) AS n`);
    const { status, body } = await api.call('POST', '/session');
    expect([status, body['detail']]).toEqual([503, 'There are too many sessions of the console; try again later']);
    await stage.database.query(`DELETE FROM console_session WHERE owner ~ '^o\\d+$'`);
    expect((await api.call('POST', '/session')).status).toBe(201);
  });

  it('comes with another AUTH_MODE, and none is made where callers have no names', async () => {
    const { headers } = await signIn(stage.parley.url, ann.headers);
    const open = await startParley({ databaseUrl: stage.database.url });
    const mine = new Api(open.url, headers);
    expect((await mine.call('GET', '/session')).body).toMatchObject({ authentication: 'none', signedIn: false });
    const { status, body } = await mine.call('POST', '/session');
    expect([status, body['detail']]).toEqual([409, 'This service requires no sign-in']);
    await open.stop();
  });
});

describe('sessions of tenants', () => {
  const tenants = useTenants();

  it('are a thousand at most for one tenant, and leave room for others', async () => {
    const { stage: shared } = tenants;
    const crowded = await tenants.caller('ann', 'crowded');
    const other = await tenants.caller('bob', 'other');
    await shared.database.query(`
      INSERT INTO console_session (digest, tenant, owner, permissions, method, ends_at)
      SELECT 'd' || n, 'crowded', 'o' || n, '{}', 'jwt', now() + interval '1 hour' FROM generate_series(1, 999) AS n`);
    const statuses = await Promise.all(
      [crowded, crowded, other].map(async (api) => (await api.call('POST', '/session')).status),
    );
    expect([statuses.slice(0, 2).toSorted(), statuses[2]]).toEqual([[201, 503], 201]);
  });
});
