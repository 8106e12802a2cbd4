import { jest } from '@jest/globals';
import { exportJWK, FlattenedSign, generateKeyPair, type JWK } from 'jose';
import type { OutboundHttp } from '#libs/http-client';
import { CardKeys, type KeySource } from './card-signatures.js';

const ORIGIN = 'https://agent.test';
const CARD = `${ORIGIN}/.well-known/agent-card.json`;

describe('the keys that cards name', () => {
  let pair: Awaited<ReturnType<typeof generateKeyPair>>;
  let publicKey: JWK;
  let more: object;
  let status: number;
  let fetches: string[];
  let keys: CardKeys;

  beforeAll(async () => {
    pair = await generateKeyPair('ES256', { extractable: true });
    publicKey = { ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256' };
  });
  beforeEach(() => {
    more = {};
    status = 200;
    fetches = [];
    const fetch = async (input: string | URL | Request): Promise<Response> => {
      fetches.push(String(input));
      return status === 200 ? Response.json({ keys: [publicKey], ...more }) : new Response('', { status });
    };
    keys = new CardKeys({ fetch, trustingFetch: () => fetch } as Pick<OutboundHttp, 'fetch' | 'trustingFetch'>, []);
  });

  const source = (name: string): KeySource => keys.findSources(`${ORIGIN}/${name}`, CARD)[0]!;

  async function keyOf(name: string, kid = 'k'): Promise<unknown> {
    const jws = await new FlattenedSign(Buffer.from('x'))
      .setProtectedHeader({ alg: 'ES256', kid })
      .sign(pair.privateKey);
    return source(name).key({ alg: 'ES256', kid }, jws);
  }

  it('are fetched once', async () => {
    await keyOf('a');
    await keyOf('a');
    expect(fetches).toEqual([`${ORIGIN}/a`]);
  });

  it('give their room to others where the sum of all is reached', async () => {
    more = { comment: 'x'.repeat(200_000) };
    for (let set = 0; set < 30; set += 1) await keyOf(`${set}`);
    const before = fetches.length;
    await keyOf('29');
    expect(fetches).toHaveLength(before);
    await keyOf('0');
    expect(fetches).toHaveLength(before + 1);
  });

  it('keep their weight when their origin answers without a set', async () => {
    more = { comment: 'x'.repeat(200_000) };
    const clock = jest.spyOn(Date, 'now');
    for (let set = 0; set < 30; set += 1) {
      status = 200;
      await keyOf(`${set}`);
      status = 404;
      clock.mockReturnValue(Date.now() + 60_000);
      await expect(keyOf(`${set}`, 'another')).rejects.toThrow('Expected 200 OK');
    }
    clock.mockRestore();
    status = 200;
    const before = fetches.length;
    await keyOf('0');
    expect(fetches).toHaveLength(before + 1);
  });

  it('are not taken from a set with more than 2,000 members', async () => {
    more = { rest: Array<number>(2_001).fill(0) };
    await expect(keyOf('a')).rejects.toThrow('A set of keys has more than 2000 members');
  });
});
