import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { JwtConfig } from '#libs/service';
import { JwtVerifier } from './jwt-verifier.js';

const CONFIG: JwtConfig = {
  jwksUrl: 'https://id.example/keys',
  issuer: 'id',
  audience: ['parley'],
  algorithms: ['ES256'],
  clockToleranceMs: 0,
  ownerClaim: 'email',
  scopeClaim: 'scp',
};

const pair = await generateKeyPair('ES256', { extractable: true });
const jwks = JSON.stringify({ keys: [await exportJWK(pair.publicKey)] });

function tokenOf(claims: Record<string, unknown>, end: string | number = '1m'): Promise<string> {
  const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'ES256' });
  return jwt.setIssuer('id').setAudience('parley').setExpirationTime(end).sign(pair.privateKey);
}

describe('JwtVerifier', () => {
  it('reads the claims that it is told to, and believes a token without verifying it again', async () => {
    let fetched = 0;
    const verifier = new JwtVerifier(CONFIG, async () => {
      fetched += 1;
      return new Response(jwks);
    });
    const token = await tokenOf({ email: 'ann@example.com', scp: ['agents', 'other'] });
    const caller = await verifier.findCaller(token);
    expect(caller).toMatchObject({ tenant: '', owner: 'ann@example.com', permissions: new Set(['agents']) });
    expect(caller?.proof?.endsAt).toBeGreaterThan(Date.now());
    expect(verifier.findCaller(token)).toBe(caller);
    expect(await verifier.findCaller(await tokenOf({ sub: 'ann' }))).toBeUndefined();
    expect(fetched).toBe(1);
  });

  it('takes no name that the database would keep as another one', async () => {
    const verifier = new JwtVerifier(CONFIG, async () => new Response(jwks));
    // Halves of characters are all written as U+FFFD; NUL is not written at all.
    for (const email of ['ann\ud800', '\udc00ann', 'a\0nn', '', 'a'.repeat(256)]) {
      expect([email, await verifier.findCaller(await tokenOf({ email }))]).toEqual([email, undefined]);
    }
    for (const email of ['ann\ufffd', 'ann\nann', '\u{1f600}']) {
      expect(await verifier.findCaller(await tokenOf({ email }))).toMatchObject({ owner: email });
    }
  });

  it('takes no token whose end is after every time that can be written down', async () => {
    const verifier = new JwtVerifier(CONFIG, async () => new Response(jwks));
    for (const end of [253_402_300_800, 8.7e12, 1e18, 1e300]) {
      expect([end, await verifier.findCaller(await tokenOf({ email: 'ann' }, end))]).toEqual([end, undefined]);
    }
    const last = Date.UTC(9999, 11, 31) / 1000;
    const caller = await verifier.findCaller(await tokenOf({ email: 'ann' }, last));
    expect(new Date(caller!.proof!.endsAt!).toISOString()).toBe('9999-12-31T00:00:00.000Z');
  });

  it.each<[string, () => Promise<Response>]>([
    ['cannot be reached', () => Promise.reject(new Error('connect'))],
    ['has an error', async () => new Response('oops', { status: 500 })],
    ['has no keys', async () => new Response('{}')],
  ])('does not call a token bad while the provider %s', async (_what, fetch) => {
    const verifier = new JwtVerifier(CONFIG, fetch);
    await expect(Promise.resolve(verifier.findCaller(await tokenOf({ email: 'a' })))).rejects.toThrow();
  });

  it('does not ask the provider for what is no token', async () => {
    const verifier = new JwtVerifier(CONFIG, () => Promise.reject(new Error('asked')));
    for (const text of ['', 'x', 'a.b.c', 'parley_key']) expect(await verifier.findCaller(text)).toBeUndefined();
  });
});
