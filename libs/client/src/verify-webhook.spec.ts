import { CompactSign, exportJWK, generateKeyPair } from 'jose';
import { verifyWebhook, type WebhookOptions } from './verify-webhook.js';

const URL = 'https://hook.example/parley';
const JWKS = 'https://parley.example/.well-known/jwks.json';

const pair = await generateKeyPair('ES256', { extractable: true });
const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1' };
const now = (): number => Math.floor(Date.now() / 1000);

function options(more: Partial<WebhookOptions> = {}): WebhookOptions {
  return { jwksUrl: `${JWKS}?${Math.random()}`, fetch: async () => Response.json({ keys: [jwk] }), ...more };
}

async function notification(said: object = {}, body = '{"statusUpdate":{}}'): Promise<Request> {
  const header = {
    alg: 'ES256',
    kid: 'k1',
    typ: 'parley-notification+jws',
    aud: URL,
    jti: 'n1',
    iat: now(),
    exp: now() + 300,
    ...said,
  };
  const signed = await new CompactSign(new TextEncoder().encode(body)).setProtectedHeader(header).sign(pair.privateKey);
  const [head, , signature] = signed.split('.');
  return new Request(URL, {
    method: 'POST',
    body,
    headers: { 'x-a2a-notification-signature': `${head}..${signature}`, 'x-a2a-notification-id': 'n1' },
  });
}

describe('verifyWebhook', () => {
  it('gives what a notification says, and its id', async () => {
    const body = '{"statusUpdate":{"text":"ü \\u0000"}}';
    expect(await verifyWebhook(await notification({}, body), options())).toEqual({
      id: 'n1',
      body: JSON.parse(body) as unknown,
    });
    const behindProxy = new Request('http://127.0.0.1:8080/parley', await notification());
    expect(await verifyWebhook(behindProxy, options({ receiverUrl: URL }))).toMatchObject({ id: 'n1' });
  });

  it('asks for the keys again where a signature names a new one', async () => {
    const known: object[] = [];
    let asked = 0;
    const given = options({
      fetch: async () => {
        asked += 1;
        return Response.json({ keys: known });
      },
    });
    await expect(verifyWebhook(await notification(), given)).rejects.toThrow('no such key');
    known.push(jwk);
    await verifyWebhook(await notification(), given);
    await verifyWebhook(await notification(), given);
    expect(asked).toBe(2);
  });

  it.each([
    [{ typ: 'JOSE' }, 'not one of a notification'],
    [{ aud: 'https://other.example' }, 'another receiver'],
    [{ jti: 'n2' }, 'another one'],
    [{ exp: now() - 1 }, 'too old'],
    [{ iat: now() - 1000 }, 'too old'],
    [{ iat: undefined }, 'no time'],
    [{ kid: 'other' }, 'no such key'],
  ])('refuses one that says %j', async (said, reason) => {
    await expect(verifyWebhook(await notification(said), options())).rejects.toThrow(reason);
  });

  it('refuses another body, and none that is not signed', async () => {
    const genuine = await notification();
    const changed = new Request(URL, { method: 'POST', body: '{}', headers: genuine.headers });
    await expect(verifyWebhook(changed, options())).rejects.toThrow('does not fit');
    await expect(verifyWebhook(new Request(URL, { method: 'POST', body: '{}' }), options())).rejects.toThrow(
      'not signed',
    );
  });
});
