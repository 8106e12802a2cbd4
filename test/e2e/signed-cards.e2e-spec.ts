import { type AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { jest } from '@jest/globals';
import type { JWK } from 'jose';
import { request } from 'undici';
import { cardVerifier } from '../../docs/cards/verify-card.mjs';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { type Parley, startParley } from '../support/parley.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, input, linear, output, unique } from '../support/workflow.js';

const stage = useSharedStage();
let other: Parley;
let places: string[];

beforeAll(async () => {
  // The SDK's verifier tells of every signature that fails.
  jest.spyOn(console, 'debug').mockImplementation(() => undefined);
  const env = apiKeyEnv(testCaller('ann'));
  other = await startParley({ databaseUrl: stage.database.url, env });
  stage.defer(() => other.stop());
  const { name } = await stage.api.save(linear(unique('signed'), input('in'), echo('a'), output('out')));
  places = ['/a2a', `/a2a/workflows/${name}`, `/a2a/workflows/${name}/nodes/a`];
});

describe('the signature of a card (section 8.4)', () => {
  it("passes the official SDK's verifier with the key that its header names", async () => {
    for (const place of places) {
      const card = await cardAt(`${stage.parley.url}${place}`);
      await verifyAgentCardSignature(keyOf)(card);
      const forged = { ...card, version: `${card.version}x` };
      await expect(verifyAgentCardSignature(keyOf)(forged)).rejects.toThrow();
    }
  });

  it("is there in what the official SDK's resolver gives", async () => {
    const card = await new DefaultAgentCardResolver().resolve(stage.parley.url);
    await verifyAgentCardSignature(keyOf)(card);
  });

  it('covers what a card says of credentials', async () => {
    const card = await cardAt(`${other.url}/a2a`);
    await verifyAgentCardSignature(keyOf)(card);
    for (const part of ['securitySchemes', 'securityRequirements']) {
      await expect(verifyAgentCardSignature(keyOf)({ ...card, [part]: undefined })).rejects.toThrow();
    }
  });

  it('passes the verifier of the documentation, with the key of whichever replica', async () => {
    const verify = cardVerifier(other.url);
    const card = await cardAt(`${stage.parley.url}/a2a`);
    expect(await verify(card)).toBe(card);
    await expect(verify({ ...card, name: 'mallory' })).rejects.toThrow();
    await expect(verify({ ...card, signatures: [] })).rejects.toThrow();
  });

  it('is not given to an address that somebody merely asked with', async () => {
    // Where nobody is asked who he is, other hosts are not served at all.
    for (const host of ['evil.example', '127.0.0.1:1', 'localhost']) {
      const { body } = await request(`${other.url}/a2a/.well-known/agent-card.json`, { headers: { host } });
      const card = (await body.json()) as AgentCard;
      expect(card.supportedInterfaces[0]?.url).toBe(`http://${host}/a2a`);
      expect(card).not.toHaveProperty('signatures');
    }
  });

  it('stays the same, and a card is not sent again to whoever has it', async () => {
    const url = `${stage.parley.url}/a2a/.well-known/agent-card.json`;
    const [first, second] = [await fetch(url), await fetch(url)];
    expect(await second.text()).toBe(await first.text());
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"/);
    const head = await fetch(url, { method: 'HEAD' });
    for (const name of ['etag', 'cache-control', 'content-type', 'content-length', 'vary'])
      expect([name, head.headers.get(name)]).toEqual([name, first.headers.get(name)]);
    expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });
});

async function cardAt(base: string): Promise<AgentCard> {
  return (await (await fetch(`${base}/.well-known/agent-card.json`)).json()) as AgentCard;
}

async function keyOf(kid: string, jku?: string): Promise<JWK> {
  const { keys } = (await (await fetch(jku ?? '')).json()) as { keys: JWK[] };
  const key = keys.find((it) => it.kid === kid);
  if (!key) throw new Error(`No key ${kid} at ${jku}`);
  return key;
}
