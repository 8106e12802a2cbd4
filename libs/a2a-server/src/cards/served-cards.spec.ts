import { type AgentCard as SdkAgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { jest } from '@jest/globals';
import { DefaultAgentCardResolver as LegacyCardResolver } from 'a2a-sdk-v0/client';
import { exportJWK, flattenedVerify, generateKeyPair, type JWK } from 'jose';
import {
  type AgentCard,
  type AgentCardSignature,
  canonicalAgentCard,
  canonicalJson,
  compactCardText,
  encodeAgentCard,
  type JsonObject,
  type JsonValue,
} from '#libs/protocol';
import { echo, FakeExecutor, servedAgent } from '../testing/fake-agents.js';
import { cardSecurity } from './agent-card.js';
import { CardSigner, ServedCards, type ServedCardsOptions } from './served-cards.js';

const BASE = 'https://agents.example.com/parley';
const agent = servedAgent('workflows/echo', new FakeExecutor(echo));
const READER = { baseUrl: BASE, path: agent.path, legacy: true };
let signer: CardSigner;
let publicKey: JWK;

beforeAll(async () => {
  // The SDK's verifier tells of every signature that fails.
  jest.spyOn(console, 'debug').mockImplementation(() => undefined);
  const pair = await generateKeyPair('ES256', { extractable: true });
  publicKey = { ...(await exportJWK(pair.publicKey)), alg: 'ES256' };
  const keys = { getSigningKey: async () => ({ kid: 'k-1', key: pair.privateKey }) };
  signer = new CardSigner(keys, { isOwnAddress: (baseUrl) => baseUrl === BASE });
});

describe('signed cards (section 8.4)', () => {
  it.each(['none', 'api-key', 'jwt'] as const)("pass the official SDK's verifier with AUTH_MODE=%s", async (mode) => {
    const card = await read(cards({ security: cardSecurity(mode) }));
    const asked: unknown[] = [];
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      asked.push(kid, jku);
      return publicKey;
    });
    await verify(card as unknown as SdkAgentCard);
    expect(asked).toEqual(['k-1', `${BASE}/.well-known/jwks.json`]);
    const forged = { ...card, supportedInterfaces: [{ ...card.supportedInterfaces[0]!, url: 'https://evil.example' }] };
    await expect(verify(forged as unknown as SdkAgentCard)).rejects.toThrow();
  });

  it.each(['none', 'api-key', 'jwt'] as const)(
    'have nothing empty with AUTH_MODE=%s, so that the SDKs sign and verify the same text as the specification',
    async (mode) => {
      const card = encodeAgentCard(await read(cards({ security: cardSecurity(mode) })));
      expect(compactCardText(card)).toBe(canonicalJson(canonicalAgentCard(card)));
    },
  );

  it.each<[JsonValue]>([[{}], [[]], [''], [null], [{ a: [] }]])(
    'with the parameter %j pass the verifiers of SDK and specification',
    async (it) => {
      const input = { type: 'object', properties: { topic: { default: it } } };
      const skill = { id: 'w', name: 'w', description: 'w', tags: [] };
      const details = async () => ({ skills: [skill], schemas: { w: { input, artifacts: [] } } });
      const served = cards({ security: cardSecurity('api-key') });
      const card = await served.extendedCard({ ...agent, details }, { agent: agent.path, baseUrl: BASE });
      expect(JSON.stringify(card)).toContain(`"default":${JSON.stringify(it)}`);
      await verifyAgentCardSignature(async () => publicKey)(card as unknown as SdkAgentCard);
      const text = canonicalJson(canonicalAgentCard(encodeAgentCard(card)));
      const [whole, compact] = card.signatures ?? [];
      const isVerified = (signature: AgentCardSignature): Promise<boolean> =>
        flattenedVerify({ ...signature, payload: Buffer.from(text).toString('base64url') }, publicKey).then(
          () => true,
          () => false,
        );
      expect(await Promise.all([whole!, compact!].map(isVerified))).toEqual([true, false]);
    },
  );

  it('name what they are signed with', async () => {
    const [signature] = (await read(cards())).signatures ?? [];
    expect(JSON.parse(Buffer.from(signature!.protected, 'base64url').toString())).toEqual({
      alg: 'ES256',
      typ: 'JOSE',
      kid: 'k-1',
      jku: `${BASE}/.well-known/jwks.json`,
    });
  });

  it('stay the same to the byte, and their tag says that another replica signs otherwise', async () => {
    const served = cards();
    const first = await served.publicCard(agent, READER);
    expect(await served.publicCard(agent, READER)).toEqual(first);
    expect(first.etag).toMatch(/^W\/"[\w-]{27}"$/);
  });

  it('are told without a signature where the base URL is only what a request said', async () => {
    const { json, etag } = await cards().publicCard(agent, { ...READER, baseUrl: 'https://evil.example' });
    expect(JSON.parse(json)).not.toHaveProperty('signatures');
    expect(etag).toMatch(/^"/);
  });

  it('are signed next time where a signature failed', async () => {
    let failing = true;
    const pair = await generateKeyPair('ES256');
    const signing = async () => {
      if (failing) throw new Error('no database');
      return { kid: 'k', key: pair.privateKey };
    };
    const served = cards({ signer: new CardSigner({ getSigningKey: signing }, { isOwnAddress: () => true }) });
    await expect(served.publicCard(agent, READER)).rejects.toThrow('no database');
    failing = false;
    expect((await read(served)).signatures).toHaveLength(1);
  });
});

describe('what cards say of credentials', () => {
  const bearer = { httpAuthSecurityScheme: { scheme: 'Bearer' } };
  const apiKey = { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } };
  const securityRequirements = [
    { schemes: { bearer: { list: ['agents'] } } },
    { schemes: { apiKey: { list: ['agents'] } } },
  ];

  it('stands in the words of 0.3 beside those of 1.0', async () => {
    expect(await read(cards({ security: cardSecurity('api-key') }))).toMatchObject({
      securitySchemes: {
        bearer: { ...bearer, type: 'http', scheme: 'Bearer' },
        apiKey: { ...apiKey, type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      securityRequirements,
      security: [{ bearer: [] }, { apiKey: [] }],
    });
    expect(await read(cards({ security: cardSecurity('jwt') }))).toMatchObject({
      securitySchemes: { bearer: { type: 'http', scheme: 'Bearer', bearerFormat: 'JWT' } },
      security: [{ bearer: [] }],
    });
    expect(await read(cards())).not.toHaveProperty('security');
  });

  it('is the same to the official SDK of 1.0, whichever card it reads, and read as it stands by that of 0.3', async () => {
    const served = cards({ security: cardSecurity('api-key') });
    const [both, current] = [await read(served), await read(served, { ...READER, legacy: false })];
    expect(current).toMatchObject({ securitySchemes: { bearer, apiKey }, securityRequirements });
    expect(current).not.toHaveProperty('security');
    expect(encodeAgentCard(both)).toEqual({ ...encodeAgentCard(current), signatures: expect.anything() });
    const fetchImpl = async () => new Response(JSON.stringify(both));
    expect(await new LegacyCardResolver({ fetchImpl }).resolve(BASE)).toEqual(both);
  });

  it('is the same to readers of 1.0 that put the words of 0.3 in the place of theirs', async () => {
    const { securitySchemes } = await read(cards({ security: cardSecurity('jwt') }));
    const { type: _, httpAuthSecurityScheme, ...rest } = securitySchemes?.bearer as JsonObject;
    expect(rest).toEqual(httpAuthSecurityScheme);
  });

  it('stands in extended cards of 0.3 as well', async () => {
    const served = cards({ security: cardSecurity('api-key') });
    const call = { agent: agent.path, baseUrl: BASE, protocolVersion: '0.3' as const };
    expect(await served.extendedCard(agent, call)).toMatchObject({
      securitySchemes: { bearer: { type: 'http' }, apiKey: { type: 'apiKey' } },
      security: [{ bearer: [] }, { apiKey: [] }],
    });
  });
});

describe('extended cards (section 3.1.11)', () => {
  it('are there only where callers are known', async () => {
    const call = { agent: agent.path, baseUrl: BASE };
    await expect(cards().extendedCard(agent, call)).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    const known = cards({ security: cardSecurity('api-key') });
    expect((await read(known)).capabilities?.extendedAgentCard).toBe(true);
    expect(await known.extendedCard(agent, call)).toMatchObject({ name: 'echo', signatures: [{}] });
  });

  it('tell more skills, and what they take', async () => {
    const skill = { id: 's', name: 's', description: 's', tags: ['t'], examples: ['{"in":"text"}'] };
    const schemas = { s: { input: { type: 'object' }, artifacts: ['out'] } };
    const detailed = { ...agent, details: async () => ({ skills: [skill], schemas }) };
    const card = await cards({ security: cardSecurity('api-key') }).extendedCard(detailed, {
      agent: agent.path,
      baseUrl: BASE,
    });
    expect(card.skills).toMatchObject([{ id: 's', examples: ['{"in":"text"}'] }]);
    expect(card.capabilities.extensions).toContainEqual(
      expect.objectContaining({ uri: 'urn:parley:extension:skill-schemas:v1', params: { skills: schemas } }),
    );
  });
});

function cards(options: Partial<ServedCardsOptions> = {}): ServedCards {
  return new ServedCards({ address: { publicBaseUrl: () => BASE }, signer, ...options });
}

async function read(served: ServedCards, reader = READER): Promise<AgentCard> {
  return JSON.parse((await served.publicCard(agent, reader)).json) as AgentCard;
}
