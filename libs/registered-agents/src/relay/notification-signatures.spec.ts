import { exportJWK, FlattenedSign, generateKeyPair, type JWK } from 'jose';
import type { OutboundFetch, OutboundHttp } from '#libs/http-client';
import { SIGNATURE_TYPES } from '#libs/http-server';
import type { RegisteredAgent } from '../agents/registered-agents.js';
import { NotificationSignatures, type SignedNotification } from './notification-signatures.js';

const AGENT = { url: 'https://agent.test/a2a', card: {} } as Pick<RegisteredAgent, 'url' | 'card'>;
const WEBHOOK = 'https://parley.test/agent-notifications/1';
const BODY = Buffer.from('{"task":{"id":"1"}}');
const SECOND_MS = 1_000;

describe('the signature of a notification', () => {
  let pair: Awaited<ReturnType<typeof generateKeyPair>>;
  let published: JWK;

  beforeAll(async () => {
    pair = await generateKeyPair('ES256', { extractable: true });
    published = { ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256' };
  });

  /** Creates the verifier of a service whose outbound requests get this answer. */
  function verifierOf(answer: () => Response | Promise<Response>): NotificationSignatures {
    const fetch: OutboundFetch = async () => answer();
    return new NotificationSignatures({ fetch, trustingFetch: () => fetch } as unknown as OutboundHttp);
  }

  async function signed(header: object = {}): Promise<SignedNotification> {
    const now = Math.floor(Date.now() / SECOND_MS);
    const { protected: head, signature } = await new FlattenedSign(BODY)
      .setProtectedHeader({
        alg: 'ES256',
        kid: 'k',
        typ: SIGNATURE_TYPES.notification,
        aud: WEBHOOK,
        jti: 'n',
        iat: now,
        exp: now + 300,
        ...header,
      })
      .sign(pair.privateKey);
    return { url: WEBHOOK, body: BODY, id: 'n', signature: `${head}..${signature}` };
  }

  const keySet = (): Response => Response.json({ keys: [published] });

  it('is valid with a key of the agent', async () => {
    expect(await verifierOf(keySet).verifyNotification(AGENT, await signed())).toBe('valid');
  });

  it.each([
    ['a key that the agent does not publish', { kid: 'other' }],
    ['another webhook', { aud: 'https://parley.test/agent-notifications/2' }],
    ['another notification', { jti: 'm' }],
    ['the signature of a card', { typ: 'JOSE' }],
    ['a time that is over', { exp: 1 }],
  ])('is wrong for %s', async (_, header) => {
    expect(await verifierOf(keySet).verifyNotification(AGENT, await signed(header))).toBe('wrong');
  });

  it('is wrong for another body, and if it is malformed, whatever the agent publishes', async () => {
    const notification = await signed();
    const verifier = verifierOf(keySet);
    expect(await verifier.verifyNotification(AGENT, { ...notification, body: Buffer.from('{}') })).toBe('wrong');
    const away = verifierOf(() => Promise.reject(new Error('refused')));
    for (const signature of ['', 'x', 'a..b', 'e30..e30'])
      expect([signature, await away.verifyNotification(AGENT, { ...notification, signature })]).toEqual([
        signature,
        'wrong',
      ]);
  });

  it.each<[string, () => Response | Promise<Response>]>([
    ['cannot be reached', () => Promise.reject(new Error('connect ECONNREFUSED'))],
    ['has no set at the moment', () => new Response(null, { status: 503 })],
    ['answers without JSON', () => new Response('<html>')],
    ['answers without a set', () => Response.json({})],
  ])('is unverified while the agent %s', async (_, answer) => {
    expect(await verifierOf(answer).verifyNotification(AGENT, await signed())).toBe('unverified');
  });
});
