import { generateAgentCardSignature } from '@a2a-js/sdk';
import { createLocalJWKSet, exportJWK, FlattenedSign, generateKeyPair, type JWK } from 'jose';
import { readAgentCard, type ReceivedCard } from '#libs/a2a-client';
import { canonicalJson, type JsonObject } from '#libs/protocol';
import { type CardSignatureReport, CardSignatures, type KeySource } from './card-signatures.js';

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

let pair: Pair;
let publicKey: JWK;

beforeAll(async () => {
  pair = await generateKeyPair('ES256', { extractable: true });
  publicKey = { ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256' };
});

describe('a signature of a card', () => {
  it('is valid over the canonical form', async () => {
    expect(await verified({ ...CARD, signatures: [await sign(CANONICAL)] })).toEqual({
      state: 'valid',
      signatures: [{ state: 'valid', alg: 'ES256', kid: 'k', trust: 'operator' }],
    });
  });

  it('is valid as the official SDK makes it', async () => {
    const signer = generateAgentCardSignature(pair.privateKey, { alg: 'ES256', kid: 'k', typ: 'JOSE' });
    const signed = await signer({ ...CARD, description: '' } as never);
    expect((await verified(signed as unknown as JsonObject)).state).toBe('valid');
  });

  it.each([
    [
      'another URL',
      { supportedInterfaces: [{ url: 'http://evil', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] },
    ],
    ['one skill more', { skills: [...skills(), { id: 'x', name: 'x', description: 'x', tags: ['x'] }] }],
    ['a way in', { securityRequirements: [{ schemes: { key: { list: ['x'] } } }] }],
  ])('does not fit a card with %s', async (_what, fields) => {
    const report = await verified({ ...CARD, ...fields, signatures: [await sign(CANONICAL)] });
    expect(report).toMatchObject({ state: 'invalid', signatures: [{ reason: 'does not fit the card' }] });
  });

  it('of a card of 0.3 is over all of it', async () => {
    const legacy = {
      name: 'old',
      description: 'd',
      url: 'http://a',
      version: '1',
      protocolVersion: '0.3.0',
      capabilities: {},
      defaultInputModes: ['a/b'],
      defaultOutputModes: ['a/b'],
      skills: [],
    };
    const signatures = [await sign(canonicalJson(legacy))];
    expect((await verified({ ...legacy, signatures })).state).toBe('valid');
    expect((await verified({ ...legacy, url: 'http://evil', signatures })).state).toBe('invalid');
    const empty = { ...legacy, supportedInterfaces: [] };
    const covered = [await sign(canonicalJson(empty))];
    expect((await verified({ ...empty, signatures: covered })).state).toBe('valid');
  });

  it.each([
    ['security', { security: [{ k: [] }] }],
    ['a scheme', { securitySchemes: { k: { type: 'http', scheme: 'basic' } } }],
  ])('covers %s in the words of 0.3', async (_what, fields) => {
    const signatures = [await sign(CANONICAL), await sign(canonicalJson(CARD))];
    expect((await verified({ ...CARD, ...fields, signatures })).state).toBe('invalid');
    const covered = await sign(canonicalJson({ ...CARD, ...fields } as JsonObject));
    expect((await verified({ ...CARD, ...fields, signatures: [covered] } as JsonObject)).state).toBe('valid');
  });

  it('one that is valid is enough', async () => {
    const others = [await sign('something else'), { protected: 'nonsense', signature: 'x' }, 7];
    const report = await verified({ ...CARD, signatures: [...others, await sign(CANONICAL)] } as JsonObject);
    expect(report.state).toBe('valid');
    expect(report.signatures.map(({ state }) => state)).toEqual(['invalid', 'invalid', 'invalid', 'valid']);
  });

  it('of nobody that is known is untrusted', async () => {
    const report = await verified({ ...CARD, signatures: [await sign(CANONICAL, { kid: 'stranger' })] });
    expect(report).toMatchObject({ state: 'untrusted', signatures: [{ kid: 'stranger' }] });
  });

  it('that says it is one of a notification is refused, whatever it is over', async () => {
    const report = await verified({ ...CARD, signatures: [await sign(CANONICAL, { typ: 'parley-notification+jws' })] });
    expect(report).toMatchObject({
      state: 'invalid',
      signatures: [{ reason: 'is not a JWS with a protected header' }],
    });
  });

  it('whose key cannot be had is untrusted', async () => {
    const unreachable: KeySource = {
      url: 'http://a/keys',
      trust: 'origin',
      key: () => Promise.reject(new Error('gone')),
    };
    const report = await verified({ ...CARD, signatures: [await sign(CANONICAL)] }, [unreachable]);
    expect(report).toMatchObject({
      state: 'untrusted',
      signatures: [{ reason: 'names a key that could not be fetched' }],
      mayPass: true,
    });
    const others = [await sign(CANONICAL), { protected: 'nonsense', signature: 'x' }];
    expect(await verified({ ...CARD, signatures: others }, [unreachable])).not.toHaveProperty('mayPass');
  });

  it.each([
    ['none', { alg: 'none', kid: 'k' }],
    ['a shared secret', { alg: 'HS256', kid: 'k' }],
    ['a curve that is not allowed', { alg: 'ES512', kid: 'k' }],
    ['nothing', { kid: 'k' }],
  ])('with the algorithm %s is refused before any key is asked for', async (_what, header) => {
    const signature = { protected: encoded(header), signature: 'AAAA' };
    const asked: string[] = [];
    const source: KeySource = {
      url: 'http://a',
      trust: 'operator',
      key: () => Promise.reject(new Error(String(asked.push('x')))),
    };
    expect((await verified({ ...CARD, signatures: [signature] }, [source])).state).toBe('invalid');
    expect(asked).toEqual([]);
  });

  it('counts by its protected header alone, which must name a key and nothing critical', async () => {
    const signature = (await sign(CANONICAL))['signature'] as string;
    const unnamed = { protected: encoded({ alg: 'ES256' }), signature, header: { kid: 'k', alg: 'ES256' } };
    const critical = { protected: encoded({ alg: 'ES256', kid: 'k', crit: ['b64'], b64: false }), signature };
    const report = await verified({ ...CARD, signatures: [unnamed, critical] });
    expect(report.signatures.map(({ reason }) => reason)).toEqual([
      'names no key',
      'is not a JWS with a protected header',
    ]);
  });

  it.each(['ES384', 'Ed25519', 'RS256', 'PS256'])('may be made with %s', async (alg) => {
    const other = await generateKeyPair(alg, { extractable: true });
    const key = { ...(await exportJWK(other.publicKey)), kid: 'k', alg };
    const signature = await sign(CANONICAL, { alg }, other);
    expect((await verified({ ...CARD, signatures: [signature] }, [trusted(key)])).state).toBe('valid');
  });

  it('is not missed where there is none', async () => {
    expect(await verified(CARD)).toEqual({ state: 'unsigned', signatures: [] });
  });
});

function skills(): { id: string; name: string; description: string; tags: string[] }[] {
  return [{ id: 's', name: 's', description: 's', tags: ['t'] }];
}

const CARD = {
  name: 'agent',
  description: '',
  version: '1',
  supportedInterfaces: [{ url: 'http://a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: skills(),
};
/** Canonical form of a card, written by hand: it keeps REQUIRED members even if they are empty. */
const CANONICAL =
  '{"capabilities":{"streaming":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],' +
  '"description":"","name":"agent","skills":[{"description":"s","id":"s","name":"s","tags":["t"]}],' +
  '"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"http://a"}],"version":"1"}';

async function sign(content: string, header: object = {}, { privateKey }: Pair = pair): Promise<JsonObject> {
  const jws = await new FlattenedSign(Buffer.from(content))
    .setProtectedHeader({ alg: 'ES256', kid: 'k', ...header })
    .sign(privateKey);
  return { protected: jws.protected as string, signature: jws.signature };
}

function verified(json: JsonObject, sources: KeySource[] = [trusted(publicKey)]): Promise<CardSignatureReport> {
  const text = JSON.stringify(json);
  const received: ReceivedCard = { url: 'http://a/card', text, card: readAgentCard(text)! };
  return new CardSignatures({ findSources: () => sources }).verifyCard(received);
}

function trusted(key: JWK): KeySource {
  return { url: 'http://keys', trust: 'operator', key: createLocalJWKSet({ keys: [key] }) };
}

function encoded(header: object): string {
  return Buffer.from(JSON.stringify(header)).toString('base64url');
}
