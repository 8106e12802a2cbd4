import { type ReceivedCard, readAgentCard } from '#libs/a2a-client';
import type { JsonObject } from '#libs/protocol';
import { type CardConfig, Metrics } from '#libs/service';
import type { CardPin, CardPins } from './card-pins.js';
import type { CardSignatureReport } from './card-signatures.js';
import { RemoteAgentWatch, type RemoteAgentWatchOptions } from './remote-agent-watch.js';

const AGENT = 'http://agent';
const AWAY = Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' });

const CARDS: CardConfig = { signing: true, signatures: 'warn', changes: 'allow', trustedKeys: [], maxAgeMs: 0 };

function received(name = 'a'): ReceivedCard {
  const text = JSON.stringify({
    name,
    description: 'd',
    version: '1',
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    supportedInterfaces: [{ url: AGENT, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  });
  return { url: `${AGENT}/card`, text, card: readAgentCard(text)! };
}

function watch(options: Partial<RemoteAgentWatchOptions>): RemoteAgentWatch {
  return new RemoteAgentWatch({
    config: { ...CARDS, changes: 'block' },
    signatures: { verifyCard: async (): Promise<CardSignatureReport> => ({ state: 'unsigned', signatures: [] }) },
    pins: {} as CardPins,
    metrics: new Metrics(),
    facts: { emit: () => undefined },
    isOwn: () => false,
    ...options,
  });
}

describe('CARD_CHANGE_POLICY=block', () => {
  /**
   * Creates pins of a database that is unreachable for the first `times` reads. @returns the pins, which count the
   * reads
   */
  function pins(times: number): CardPins & { asked: number } {
    let kept: CardPin | undefined;
    const fake = {
      asked: 0,
      findPin: async () => {
        fake.asked += 1;
        if (fake.asked <= times) throw AWAY;
        return kept;
      },
      pinCard: async (_tenant: string, url: string, seen: { hash: string }) =>
        (kept = { id: '1', url, card: null, ...seen }),
      seenAgain: async () => undefined,
    };
    return fake as unknown as CardPins & { asked: number };
  }

  it('a call waits while the database is away, and goes on', async () => {
    const away = pins(1);
    const { signal } = new AbortController();
    await watch({ pins: away }).admitCard(AGENT, received(), { signal });
    expect(away.asked).toBe(2);
  });

  it('waits no longer than the call', async () => {
    const call = new AbortController();
    const away = pins(Infinity);
    const waiting = watch({ pins: away }).admitCard(AGENT, received(), { signal: call.signal });
    call.abort(new Error('nobody waits any more'));
    await expect(waiting).rejects.toThrow('nobody waits any more');
    await expect(watch({ pins: away }).admitCard(AGENT, received(), {})).rejects.toBe(AWAY);
  });
});

describe('CARD_SIGNATURES=require', () => {
  it.each([
    ['untrusted-card', undefined],
    ['connect', true as const],
  ])('a card that cannot be told to be signed is refused: %s', async (kind, mayPass) => {
    const reason = 'names a key of some kind';
    const report: CardSignatureReport = { state: 'untrusted', signatures: [{ state: 'untrusted', reason }], mayPass };
    const strict = watch({
      config: { ...CARDS, signatures: 'require' },
      signatures: { verifyCard: async () => report },
    });
    await expect(strict.admitCard(AGENT, received(), {})).rejects.toMatchObject({
      kind,
      message: `the agent card is not signed as required: its signature ${reason}`,
    });
  });
});

describe('A card that was let pass', () => {
  /** Creates pins that store the first card of an agent, and count the comparisons. */
  function pins(): CardPins & { asked: number } {
    let kept: CardPin | undefined;
    const fake = {
      asked: 0,
      findPin: async () => {
        fake.asked += 1;
        return kept;
      },
      pinCard: async (_tenant: string, url: string, { hash }: { hash: string }) =>
        (kept = { id: '1', url, hash, card: null }),
      seenAgain: async () => undefined,
      noteChange: async () => true,
    };
    return fake as unknown as CardPins & { asked: number };
  }

  it('is compared once, although it is read again for each call', async () => {
    const compared = pins();
    const watching = watch({ pins: compared });
    await watching.admitCard(AGENT, received(), {});
    expect(watching.admitCard(AGENT, received(), {})).toBeUndefined();
    expect(compared.asked).toBe(1);
  });

  it('is compared again where its text or its place is another one', async () => {
    const compared = pins();
    const watching = watch({ pins: compared, config: { ...CARDS, changes: 'allow' } });
    await watching.admitCard(AGENT, received(), {});
    await watching.admitCard(AGENT, received('b'), {});
    await watching.admitCard(AGENT, { ...received('b'), url: `${AGENT}/other` }, {});
    expect(compared.asked).toBe(3);
  });
});

describe('The pinned card of an agent', () => {
  const card = JSON.parse(received().text) as JsonObject;

  function pinsOf(kept: JsonObject | null): CardPins & { asked: string[][] } {
    const asked: string[][] = [];
    const find = async (...place: string[]) => {
      asked.push(place);
      return { id: '1', url: AGENT, hash: 'h', card: kept };
    };
    return { asked, findPin: find } as unknown as CardPins & { asked: string[][] };
  }

  it('is found without the agent, by tenant and place', async () => {
    const pins = pinsOf(card);
    const scope = { tenant: 't', owner: 'o' };
    expect(await watch({ pins }).findPinnedCard(`${AGENT}/.well-known/agent-card.json`, { scope })).toEqual(card);
    expect(pins.asked).toEqual([['t', AGENT]]);
    expect(await watch({ pins: pinsOf(null) }).findPinnedCard(AGENT, {})).toBeUndefined();
    expect(await watch({ isOwn: () => true }).findPinnedCard(AGENT, {})).toBeUndefined();
  });

  it('is of use under CARD_SIGNATURES=require only if it is signed', async () => {
    const config: CardConfig = { ...CARDS, signatures: 'require' };
    expect(await watch({ pins: pinsOf(card), config }).findPinnedCard(AGENT, {})).toBeUndefined();
    const signatures = { verifyCard: async (): Promise<CardSignatureReport> => ({ state: 'valid', signatures: [] }) };
    expect(await watch({ pins: pinsOf(card), config, signatures }).findPinnedCard(AGENT, {})).toEqual(card);
  });
});

describe('A card that has changed', () => {
  const card = JSON.parse(received('b').text) as CardPin['card'];
  const pinned = { id: '1', url: AGENT, hash: 'of another card', card } as CardPin;

  it.each([
    ['allow', true, false],
    ['warn', true, false],
    ['block', true, true],
    ['block', false, false],
  ] as const)('is one fact under %s where it is new (%s), and blocked: %s', async (changes, isNew, blocked) => {
    const emitted: unknown[] = [];
    const facts = { emit: (...fact: unknown[]) => void emitted.push(fact) };
    const pins = { findPin: async () => pinned, noteChange: async () => isNew } as unknown as CardPins;
    const call = watch({ config: { ...CARDS, changes }, pins, facts }).admitCard(AGENT, received(), {});
    const refusal = await Promise.resolve(call).catch(({ kind }: { kind: string }) => kind);
    expect(refusal).toBe(changes === 'block' ? 'changed-card' : undefined);
    const fact = { url: AGENT, tenant: '', paths: ['/name'], policy: changes, significant: true, blocked };
    expect(emitted).toEqual(isNew ? [['card.changed', fact]] : []);
  });

  it.each([
    ['before it is written', async () => undefined],
    ['that could not be written', async () => Promise.reject(AWAY)],
  ])('is no fact %s', async (_when, note) => {
    const emitted: unknown[] = [];
    const facts = { emit: (...fact: unknown[]) => void emitted.push(fact) };
    const pins = { findPin: async () => pinned, noteChange: note } as unknown as CardPins;
    const call = watch({ config: { ...CARDS, changes: 'allow' }, pins, facts }).admitCard(AGENT, received(), {});
    await Promise.resolve(call).catch(() => undefined);
    expect(emitted).toEqual([]);
  });
});
