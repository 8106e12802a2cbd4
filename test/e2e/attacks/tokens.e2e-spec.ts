import { createHmac, createPublicKey, type JsonWebKey, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CompactSign, type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';
import { AUDIENCE, IdentityProvider, ISSUER } from '../../support/identity-provider.js';
import { PlainHttp } from '../../support/plain-http.js';
import { useStage } from '../../support/stage.js';
import { Api, input, linear, output, unique } from '../../support/workflow.js';

const env: Record<string, string> = {};
let provider: IdentityProvider;
let http: PlainHttp;
let published: JWK;
/** A key that the provider never saw, and a server that publishes it as `one`. */
let own: CryptoKey;
let ownPublic: JWK;
let elsewhere: Server;
let asked: string[];

beforeAll(async () => {
  provider = await IdentityProvider.start();
  Object.assign(env, provider.env());
  const pair = await generateKeyPair('ES256', { extractable: true });
  own = pair.privateKey;
  ownPublic = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  const { keys } = (await (await fetch(provider.jwksUrl)).json()) as { keys: JWK[] };
  published = keys[0]!;
  asked = [];
  elsewhere = createServer(({ url }, response) => {
    asked.push(String(url));
    response.end(JSON.stringify({ keys: [ownPublic] }));
  }).listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
});

const stage = useStage({ env });

beforeAll(() => {
  http = new PlainHttp(stage.parley.url);
});

afterAll(async () => {
  http?.close();
  elsewhere?.close();
  await provider?.stop();
});

const now = (): number => Math.floor(Date.now() / 1000);
const claims = (more: object = {}) => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'ann',
  org: 'acme',
  exp: now() + 10_800,
  ...more,
});
const coded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const address = (path: string): string => `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}${path}`;

/** Signed with the attacker's key, whatever the header says. */
const forged = (header: object): Promise<string> =>
  new CompactSign(Buffer.from(JSON.stringify(claims())))
    .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header })
    .sign(own);

function hmac(header: object, secret: string | Buffer): string {
  const signed = `${coded(header)}.${coded(claims())}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

const statusOf = async (token: string): Promise<number> => statusWith({ authorization: `Bearer ${token}` });

async function statusWith(headers: Record<string, string | string[]>): Promise<number> {
  return (await http.send({ method: 'GET', target: '/api/runs', headers })).status;
}

const pem = (): string =>
  createPublicKey({ key: published as JsonWebKey, format: 'jwk' })
    .export({ type: 'spki', format: 'pem' })
    .toString();
const der = (): Buffer =>
  createPublicKey({ key: published as JsonWebKey, format: 'jwk' }).export({ type: 'spki', format: 'der' });

describe('a token that the provider did not sign', () => {
  it.each<[string, () => string]>([
    ...['none', 'None', 'NONE', 'nOnE', '', 'null'].map((alg): [string, () => string] => [
      `says alg ${JSON.stringify(alg)}`,
      () => `${coded({ alg, kid: 'one' })}.${coded(claims())}.`,
    ]),
    ['has no alg', () => `${coded({ kid: 'one' })}.${coded(claims())}.AAAA`],
    ['has a list for its alg', () => `${coded({ alg: ['ES256'], kid: 'one' })}.${coded(claims())}.AAAA`],
    ['is none behind one that is', () => `${coded('{"alg":"ES256","alg":"none"}')}.${coded(claims())}.`],
    ['has the published key for a secret, as PEM', () => hmac({ alg: 'HS256', kid: 'one' }, pem())],
    ['has it without the last line feed', () => hmac({ alg: 'HS256', kid: 'one' }, pem().trim())],
    ['has it as DER', () => hmac({ alg: 'HS256', kid: 'one' }, der())],
    ['has it as JSON', () => hmac({ alg: 'HS256', kid: 'one' }, JSON.stringify(published))],
    ['has an empty secret', () => hmac({ alg: 'HS256', kid: 'one' }, '')],
    ['has an empty signature', () => `${coded({ alg: 'ES256', kid: 'one' })}.${coded(claims())}.`],
    [
      'has a signature of nothing',
      () => `${coded({ alg: 'ES256', kid: 'one' })}.${coded(claims())}.${coded(Buffer.alloc(64).toString('latin1'))}`,
    ],
    [
      'has a signature of zeros',
      () => `${coded({ alg: 'ES256', kid: 'one' })}.${coded(claims())}.${Buffer.alloc(64).toString('base64url')}`,
    ],
    [
      'has a signature of chance',
      () => `${coded({ alg: 'ES256', kid: 'one' })}.${coded(claims())}.${randomBytes(64).toString('base64url')}`,
    ],
    [
      'is encrypted',
      () =>
        `${coded({ alg: 'dir', enc: 'A128GCM' })}..${coded('iviviviviviv')}.${coded('x')}.${coded('tagtagtagtagtagt')}`,
    ],
    [
      'is JSON',
      () => JSON.stringify({ payload: coded(claims()), protected: coded({ alg: 'ES256' }), signature: 'AA' }),
    ],
    ['has a part too many', () => `${coded({ alg: 'ES256', kid: 'one' })}.${coded(claims())}.AA.AA`],
    ['is nothing but dots', () => '..'],
  ])('%s: is refused', async (_what, token) => expect(await statusOf(token())).toBe(401));

  it.each<[string, () => object]>([
    ['names the key of the provider', () => ({})],
    ['names no key', () => ({ kid: undefined })],
    ...[
      '../../../../dev/null',
      '/proc/self/environ',
      "one' OR '1'='1",
      'one\u0000',
      '__proto__',
      'constructor',
      '',
      '*',
    ].map((kid): [string, () => object] => [`names the key ${JSON.stringify(kid)}`, () => ({ kid })]),
    ['names its key by an address', () => ({ kid: address('/kid') })],
    ['brings its key', () => ({ jwk: ownPublic })],
    ['says where its key is', () => ({ jku: address('/jku') })],
    ['says where, at the provider', () => ({ jku: `${provider.jwksUrl}@${address('/at').slice(7)}` })],
    ['says where its certificate is', () => ({ x5u: address('/x5u') })],
    ['brings a certificate', () => ({ x5c: [Buffer.alloc(300, 1).toString('base64')] })],
    ['has the thumbprint of none', () => ({ x5t: 'AAAA', 'x5t#S256': 'AAAA' })],
  ])('%s: is refused, and nobody is asked for its key', async (_what, header) => {
    expect(await statusOf(await forged(header()))).toBe(401);
    expect(asked).toEqual([]);
  });
});

describe('a token that the provider did sign', () => {
  it('opens: what is refused below is refused for what it says', async () => {
    expect(await statusOf(await provider.token(claims()))).toBe(200);
    expect(await statusOf(await provider.signed(JSON.stringify(claims())))).toBe(200);
    for (const typ of ['JWT', 'jwt', 'at+jwt', 'application/at+jwt', 'AT+JWT']) {
      expect([typ, await statusOf(await provider.signed(JSON.stringify(claims()), { typ }))]).toEqual([typ, 200]);
    }
  });

  it.each<[string, () => object]>([
    ['is of another issuer', () => ({ iss: `${ISSUER}x` })],
    ['is of an issuer that begins like it', () => ({ iss: ISSUER.slice(0, -1) })],
    ['is of a list of issuers', () => ({ iss: [ISSUER] })],
    ['is of no issuer', () => ({ iss: undefined })],
    ['is for others', () => ({ aud: 'other' })],
    ['is for others that begin like us', () => ({ aud: [`${AUDIENCE}-staging`, AUDIENCE.slice(1)] })],
    ['is for nobody', () => ({ aud: undefined })],
    ['is for an object', () => ({ aud: { [AUDIENCE]: AUDIENCE } })],
    ['has ended', () => ({ exp: now() - 3600 })],
    ['never ends', () => ({ exp: undefined })],
    ['ends after all time', () => ({ exp: 1e18 })],
    ['ends in words', () => ({ exp: '9999999999' })],
    ['ends at no time', () => ({ exp: null })],
    ['has not begun', () => ({ nbf: now() + 3600 })],
    ['begins in words', () => ({ nbf: 'now' })],
    ['is for somebody who is a list', () => ({ sub: ['ann'] })],
    ['is for somebody with a null in the name', () => ({ sub: 'ann\u0000' })],
    ['is for somebody too long', () => ({ sub: 'a'.repeat(256) })],
    ['is of a tenant that is a list', () => ({ org: ['acme'] })],
  ])('%s: is refused', async (_what, more) => {
    expect(await statusOf(await provider.signed(JSON.stringify(claims(more()))))).toBe(401);
  });

  it.each<[string, () => string]>([
    [
      'its end',
      () =>
        JSON.stringify(claims())
          .replace('{', `{"exp":${now() + 10_800},`)
          .replace(/"exp":\d+}$/, `"exp":${now() - 3600}}`),
    ],
    [
      'its issuer',
      () =>
        JSON.stringify(claims({ iss: undefined })).replace(
          '{',
          `{"iss":${JSON.stringify(ISSUER)},"iss":"https://evil.example/",`,
        ),
    ],
    [
      'its audience',
      () => JSON.stringify(claims({ aud: undefined })).replace('{', `{"aud":"${AUDIENCE}","aud":"other",`),
    ],
  ])('says %s twice, the second time wrong: is refused', async (_what, payload) => {
    expect(await statusOf(await provider.signed(payload()))).toBe(401);
  });

  it.each([
    'logout+jwt',
    'dpop+jwt',
    'secevent+jwt',
    'oauth-authz-req+jwt',
    'application/token-introspection+jwt',
    'JOSE',
    'parley-notification+jws',
  ])('is of the kind %s, made for something else: is refused', async (typ) =>
    expect(await statusOf(await provider.signed(JSON.stringify(claims()), { typ }))).toBe(401),
  );

  it.each<[string, object]>([
    ['an extension that must be understood', { crit: ['exp'], exp: 1 }],
    ['one of nobody', { crit: ['https://evil.example/x'], 'https://evil.example/x': true }],
  ])('has %s: is refused', async (_what, header) => {
    const [, payload = '', signature = ''] = (await provider.token(claims())).split('.');
    expect(await statusOf(`${coded({ alg: 'ES256', kid: 'one', ...header })}.${payload}.${signature}`)).toBe(401);
  });

  it('cut, changed or put together of two: is refused', async () => {
    const [ann, eve] = [await provider.token(claims()), await provider.token(claims({ sub: 'eve' }))];
    const [head, , signature] = ann.split('.');
    const changed = `${head}.${coded(claims({ scope: 'admin' }))}.${signature}`;
    const mixed = `${head}.${eve.split('.')[1]}.${signature}`;
    const nested = await provider.signed(ann, { cty: 'JWT' });
    for (const token of [ann.slice(0, -4), `${ann.slice(0, -4)}AAAA`, changed, mixed, nested, `${ann}.`, `.${ann}`]) {
      expect([token, await statusOf(token)]).toEqual([token, 401]);
    }
  });

  it.each(['null', '[]', '"ann"', '1', '', '{', '\u0000', '{"__proto__":{"sub":"ann"}}'])(
    'says %j: is refused',
    async (payload) => {
      expect(await statusOf(await provider.signed(payload))).toBe(401);
    },
  );

  it('is as long as a head may be, or longer: is refused at once', async () => {
    expect(await statusOf(await provider.token(claims({ more: 'x'.repeat(6_000) })))).toBe(200);
    expect(await statusOf(`${'a'.repeat(12_000)}.b.c`)).toBe(401);
    expect(await statusOf(`${'.'.repeat(12_000)}`)).toBe(401);
    expect(await statusOf(`${coded({ alg: 'ES256', kid: 'one' })}.${coded('['.repeat(6_000))}.AA`)).toBe(401);
    expect(await statusOf('a'.repeat(100_000))).toBe(431);
  });
});

describe('two tokens in one request', () => {
  it('the first header alone counts, and a list of them is none', async () => {
    const good = `Bearer ${await provider.token(claims())}`;
    const bad = `Bearer ${await forged({})}`;
    expect(await statusWith({ authorization: [bad, good] })).toBe(401);
    expect(await statusWith({ authorization: [good, bad] })).toBe(200);
    expect(await statusWith({ authorization: `${bad}, ${good}` })).toBe(401);
    expect(await statusWith({ authorization: `${good}, ${bad}` })).toBe(401);
    expect(await statusWith({ authorization: `${good} ${bad}` })).toBe(401);
    expect(await statusWith({ authorization: bad, 'x-api-key': good.slice(7) })).toBe(401);
    expect(await statusWith({ authorization: '', 'x-api-key': good.slice(7) })).toBe(401);
  });

  it('the tenant of one and the name of another make no third', async () => {
    const acme = await provider.headers({ sub: 'ann', org: 'acme' });
    const evil = await provider.headers({ sub: 'ann', org: 'evil' });
    const { name } = await new Api(stage.parley.url, acme).save(linear(unique('w'), input('in'), output('out')));
    const mixed = { authorization: [evil.authorization!, acme.authorization!], 'x-tenant': 'acme', 'x-org': 'acme' };
    const list = { method: 'GET', target: '/api/workflows' };
    expect((await http.send({ ...list, headers: acme })).text).toContain(name);
    expect(await http.send({ ...list, headers: mixed })).toMatchObject({ status: 200, text: '[]' });
  });
});
