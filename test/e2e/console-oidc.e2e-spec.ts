import { apiKeyEnv, testCaller } from '../support/callers.js';
import { OF_CONSOLE, statusFor } from '../support/console-session.js';
import { databaseText } from '../support/database-text.js';
import { freePort } from '../support/free-port.mjs';
import { OidcBrowser, oidcEnv } from '../support/oidc-browser.js';
import { CLIENT_SECRET, type OidcProvider, startOidcProvider } from '../support/oidc-provider.mjs';
import { type Parley, startParley, startRefused } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, input, linear, output, unique } from '../support/workflow.js';

const ann = testCaller('ann');
const env: Record<string, string> = { ...apiKeyEnv(ann), LOG_LEVEL: 'debug' };
let provider: OidcProvider;

beforeAll(async () => {
  const publicUrl = `http://127.0.0.1:${await freePort()}`;
  provider = await startOidcProvider(publicUrl);
  Object.assign(env, oidcEnv(publicUrl, provider));
});

const stage = useStage({ env });
let url: string;

beforeAll(() => void (url = stage.parley.url));
beforeEach(() => void Object.assign(provider.state, { person: 'ann', refuses: false }));
afterAll(() => provider.stop());

type Person = OidcProvider['state']['person'];

async function browserOf(person: Person): Promise<OidcBrowser> {
  provider.state.person = person;
  const browser = new OidcBrowser();
  expect(await browser.signIn(url)).toBe('/runs');
  return browser;
}

const apiOf = async (person: Person): Promise<Api> => new Api(url, (await browserOf(person)).headersFor(url));

const failed = (reason: string, returnTo = '/runs'): string =>
  `/sign-in-failed?${new URLSearchParams({ reason, return: returnTo }).toString()}`;

describe('a sign-in at a provider', () => {
  it('identifies the person by its claims, with the scopes of its roles', async () => {
    const about = async (person: Person) => (await (await apiOf(person)).call('GET', '/session')).body;
    const common = { authentication: 'api-key', signedIn: true, endsAt: expect.any(String) };
    expect(await about('ann')).toEqual({
      ...common,
      caller: 'ann',
      tenant: 'acme',
      scopes: ['agents', 'workflows', 'admin'],
    });
    expect(await about('bob')).toEqual({ ...common, caller: 'bob', tenant: 'acme', scopes: ['agents'] });
    expect((await fetch(`${url}/auth/options`).then((it) => it.json())) as unknown).toEqual({
      signInUrl: `${url}/auth/sign-in`,
    });
  });

  it('begins at one replica and ends at another one, whose session both accept', async () => {
    const other = await startParley({ databaseUrl: stage.database.url, env: { ...env, PORT: '0' } });
    try {
      const browser = new OidcBrowser();
      const callback = await browser.untilCallback(url);
      const { cookie = '' } = browser.headersFor(url);
      const elsewhere = `${other.url}${callback.pathname}${callback.search}`;
      const { headers } = await fetch(elsewhere, { redirect: 'manual', headers: { cookie } });
      expect(headers.get('location')).toBe('/runs');
      const session = headers.getSetCookie().find((line) => line.includes('session')) ?? '';
      const signedIn = { ...OF_CONSOLE, cookie: session.split(';', 1)[0] ?? '' };
      expect([await statusFor(url, signedIn), await statusFor(other.url, signedIn)]).toEqual([200, 200]);
    } finally {
      await other.stop();
    }
  });

  it('asks with PKCE, state and nonce, and keeps its secrets in a cookie that is used once', async () => {
    const response = await fetch(`${url}/auth/sign-in`, { redirect: 'manual' });
    const asked = new URL(response.headers.get('location') ?? '').searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      scope: 'openid profile',
      redirect_uri: `${url}/auth/callback`,
      code_challenge_method: 'S256',
    });
    const secrets = ['state', 'nonce', 'code_challenge'].map((name) => asked.get(name) ?? '');
    for (const secret of secrets) expect(secret).toMatch(/^[\w-]{43}$/);
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^parley-sign-in-[\w-]{16}=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    for (const secret of secrets) expect(cookie).not.toContain(secret);
  });

  it('is completed in each of several tabs, whichever comes first', async () => {
    const browser = new OidcBrowser();
    const first = await browser.untilCallback(url, '/runs');
    const second = await browser.untilCallback(url, '/inbox');
    const foreign = new URL(`${url}/auth/callback?state=x&error=access_denied`);
    expect(await browser.complete(foreign)).toBe(failed('expired', '/'));
    expect([await browser.complete(first), await browser.complete(second)]).toEqual(['/runs', '/inbox']);
  });

  it('replaces the oldest of more than four that a browser has begun, and leaves no cookie behind', async () => {
    const browser = new OidcBrowser();
    const callbacks: URL[] = [];
    for (let count = 1; count <= 5; count += 1) callbacks.push(await browser.untilCallback(url, `/runs/${count}`));
    const pages: string[] = [];
    for (const callback of callbacks) pages.push(await browser.complete(callback));
    expect(pages).toEqual([failed('expired', '/'), '/runs/2', '/runs/3', '/runs/4', '/runs/5']);
    expect(browser.headersFor(url).cookie).toMatch(/^parley-session=[\w-]{43}$/);
  });

  it('keeps tenants and persons apart', async () => {
    const [anns, bobs, eves] = [await apiOf('ann'), await apiOf('bob'), await apiOf('eve')];
    const workflow = await anns.save(linear(unique('w'), input('in'), output('out')));
    const runId = await anns.start(workflow.name, { in: 'x' });
    const statuses = (api: Api) =>
      Promise.all(
        [`/workflows/${workflow.name}`, `/runs/${runId}`].map(async (path) => (await api.call('GET', path)).status),
      );
    expect(await statuses(anns)).toEqual([200, 200]);
    expect(await statuses(bobs)).toEqual([200, 404]);
    expect(await statuses(eves)).toEqual([404, 404]);
    // The key of the same name belongs to another tenant.
    expect(await statuses(new Api(url, ann.headers))).toEqual([404, 404]);
    expect((await bobs.call('GET', '/keys')).status).toBe(403);
  });

  it.each(['//evil.example/', 'https://evil.example/', '/\\evil.example', '/auth/sign-in'])(
    'leads to no other site, though it was begun for %s',
    async (returnTo) => expect(await new OidcBrowser().signIn(url, returnTo)).toBe('/'),
  );

  it('signs out at the provider, too', async () => {
    const api = await apiOf('ann');
    const { status, body } = await api.call<{ providerUrl: string }>('DELETE', '/session');
    expect(status).toBe(200);
    const leaving = new URL(body.providerUrl);
    expect([leaving.origin, leaving.pathname]).toEqual([provider.issuer, '/session/end']);
    expect(leaving.searchParams.get('post_logout_redirect_uri')).toBe(`${url}/`);
    expect((await fetch(leaving)).status).toBe(200);
    expect((await api.call('GET', '/runs')).status).toBe(401);
  });

  it('lets nothing secret into a log or the database', async () => {
    const browser = new OidcBrowser();
    const callback = await browser.untilCallback(url);
    await browser.complete(callback);
    const { body } = await new Api(url, browser.headersFor(url)).call<{ providerUrl: string }>('DELETE', '/session');
    const idToken = new URL(body.providerUrl).searchParams.get('id_token_hint') ?? '';
    expect(idToken).toMatch(/^eyJ/);
    const secrets = [callback.searchParams.get('code') ?? '', idToken, CLIENT_SECRET];
    const text = await databaseText(stage.database);
    for (const secret of secrets)
      expect([stage.parley.logs().includes(secret), text.includes(secret)]).toEqual([false, false]);
  });
});

describe('a sign-in fails with a page that says why, and creates no session', () => {
  async function expectFailure(browser: OidcBrowser, page: string, reason: string, returnTo?: string): Promise<void> {
    expect(page).toBe(failed(reason, returnTo));
    expect(await statusFor(url, browser.headersFor(url))).toBe(401);
  }

  it.each<[string, Person]>([
    ['no-role', 'mallory'],
    ['no-name', 'nobody'],
  ])('for %s', async (reason, person) => {
    provider.state.person = person;
    const browser = new OidcBrowser();
    await expectFailure(browser, await browser.signIn(url), reason);
  });

  it('for a person who declines', async () => {
    provider.state.refuses = true;
    const browser = new OidcBrowser();
    await expectFailure(browser, await browser.signIn(url), 'refused');
  });

  it('for a forged state, and for an answer to another browser', async () => {
    const browser = new OidcBrowser();
    const callback = await browser.untilCallback(url);
    const stranger = new OidcBrowser();
    await expectFailure(stranger, await stranger.complete(callback), 'expired', '/');
    await stranger.untilCallback(url);
    await expectFailure(stranger, await stranger.complete(callback), 'expired', '/');
    callback.searchParams.set('state', 'forged');
    await expectFailure(browser, await browser.complete(callback), 'expired', '/');
  });

  it('for a code that was used before', async () => {
    const browser = new OidcBrowser();
    const callback = await browser.untilCallback(url);
    const stolen = browser.headersFor(url);
    expect(await browser.complete(callback)).toBe('/runs');
    const again = await fetch(callback, { redirect: 'manual', headers: stolen });
    expect(again.headers.get('location')).toBe(failed('expired'));
    expect(again.headers.getSetCookie().filter((it) => it.startsWith('parley-session='))).toEqual([]);
  });

  it.each(['nonce', 'code_challenge'])('for another %s than the one that was begun with', async (name) => {
    const browser = new OidcBrowser();
    const other = 'a'.repeat(43);
    const callback = await browser.untilCallback(url, '/runs', (asked) => asked.searchParams.set(name, other));
    await expectFailure(browser, await browser.complete(callback), name === 'nonce' ? 'invalid' : 'expired');
  });

  it('for an answer of another issuer', async () => {
    const browser = new OidcBrowser();
    const callback = await browser.untilCallback(url);
    callback.searchParams.set('iss', 'https://evil.example');
    await expectFailure(browser, await browser.complete(callback), 'invalid');
  });

  it('for an unknown code', async () => {
    const browser = new OidcBrowser();
    const callback = await browser.untilCallback(url);
    callback.searchParams.set('code', 'x');
    await expectFailure(browser, await browser.complete(callback), 'expired');
  });
});

describe('the provider', () => {
  it('may be away at the start, and at a sign-in; keys are accepted meanwhile', async () => {
    const publicUrl = `http://127.0.0.1:${await freePort()}`;
    const port = await freePort();
    const away = { issuer: `http://127.0.0.1:${port}` };
    const options = {
      databaseUrl: stage.database.url,
      env: { ...env, ...oidcEnv(publicUrl, away), LOG_LEVEL: 'warn' },
    };
    const other: Parley = await startParley({ ...options, env: { ...options.env, FILES_DIR_SHARED: 'true' } });
    await until(() => other.logs().includes('CONSOLE_OIDC_ISSUER cannot be used'), { what: 'the warning' });
    const browser = new OidcBrowser();
    const begun = await browser.request(`${other.url}/auth/sign-in?return=/inbox`);
    expect(begun.headers.get('location')).toBe(failed('provider-away', '/inbox'));
    expect(await statusFor(other.url, ann.headers)).toBe(200);
    const returned = await startOidcProvider(publicUrl, port);
    expect(await browser.signIn(other.url)).toBe('/runs');
    const callback = await browser.untilCallback(other.url);
    await returned.stop();
    expect(await browser.complete(callback)).toBe(failed('provider-away'));
    await other.stop();
  });

  it('is no longer believed in sessions once another one is configured', async () => {
    const { cookie } = (await browserOf('ann')).headersFor(url) as { cookie: string };
    const publicUrl = `http://127.0.0.1:${await freePort()}`;
    const changed = { ...env, ...oidcEnv(publicUrl, provider), CONSOLE_OIDC_CLIENT_ID: 'another' };
    const other = await startParley({ databaseUrl: stage.database.url, env: { ...changed, FILES_DIR_SHARED: 'true' } });
    expect(await statusFor(other.url, { 'x-requested-with': 'parley-console', cookie })).toBe(401);
    await other.stop();
  });

  it('is refused at the start without what it needs', async () => {
    const { CONSOLE_OIDC_ROLES: _roles, PUBLIC_URL: _url, ...rest } = env;
    const { code, logs } = await startRefused({ databaseUrl: stage.database.url, env: rest });
    expect([code, logs.trim().split('\n')]).toEqual([
      1,
      [
        'CONSOLE_OIDC_ROLES: is needed with CONSOLE_OIDC_ISSUER',
        'PUBLIC_URL: is needed with CONSOLE_OIDC_ISSUER, as the base of the redirect URI',
      ],
    ]);
  });
});
