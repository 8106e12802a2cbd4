import type { OutboundHttp } from '#libs/outbound';
import { exportJWK, FlattenedSign, generateKeyPair, type JWK } from 'jose';
import { CardKeys, type KeySource } from './card-keys.js';

const ORIGIN = 'https://agent.test';
const CARD = `${ORIGIN}/.well-known/agent-card.json`;

describe('the keys that cards name', () => {
  let pair: Awaited<ReturnType<typeof generateKeyPair>>;
  let publicKey: JWK;
  let more: object;
  let fetches: string[];
  let keys: CardKeys;

  beforeAll(async () => {
    pair = await generateKeyPair('ES256', { extractable: true });
    publicKey = { ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256' };
  });
  beforeEach(() => {
    more = {};
    fetches = [];
    const fetch = async (input: string | URL | Request): Promise<Response> => {
      fetches.push(String(input));
      return Response.json({ keys: [publicKey], ...more });
    };
    keys = new CardKeys({ fetch, trusting: () => fetch } as Pick<OutboundHttp, 'fetch' | 'trusting'>, []);
  });

  const source = (name: string): KeySource => keys.sources(`${ORIGIN}/${name}`, CARD)[0]!;

  async function keyOf(name: string): Promise<unknown> {
    const jws = await new FlattenedSign(Buffer.from('x'))
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .sign(pair.privateKey);
    return source(name).key({ alg: 'ES256', kid: 'k' }, jws);
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

  it('are not taken from a set with more than 2,000 members', async () => {
    more = { rest: Array<number>(2_001).fill(0) };
    await expect(keyOf('a')).rejects.toThrow('A set of keys has more than 2000 members');
  });
});
