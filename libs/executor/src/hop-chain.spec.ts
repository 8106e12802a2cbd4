import { userMessage } from '#libs/protocol';
import { calleeOf, type Hop, HOP_CHAIN, HopChains, hopMetadata, hopsOf, keptHops } from './hop-chain.js';

const chains = new HopChains(Buffer.from('our secret'));
const others = new HopChains(Buffer.from('their secret'));
const call = (task: string, caller: string, callee: string) => ({ task, caller, callee });
const refusal = expect.objectContaining({ reason: 'UNSUPPORTED_OPERATION', detailReason: 'LOOP_DETECTED' });

function thrown(act: () => void): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('HopChains', () => {
  const first = chains.extended([], call('t1', 'workflows/a', 'http://x/a2a/'));
  const second = others.extended(first, call('u1', 'workflows/b', 'http://y'));
  const third = chains.extended(second, call('t2', 'workflows/c', 'http://z'));

  it('keeps the root of its own first call, through services in between', () => {
    expect(third.map(({ root }) => root)).toEqual(['t1', 'u1', 't1']);
    expect(chains.rootOf(third)).toBe('t1');
    expect(chains.rootOf([])).toBeUndefined();
  });

  it('refuses a Message to an agent that is at work on what led to it', () => {
    expect(thrown(() => chains.refuseReentry('workflows/a', third))).toEqual(refusal);
    expect(thrown(() => chains.refuseReentry('workflows/d', third))).toBeUndefined();
  });

  it('refuses to call an agent again that was called on the way here', () => {
    expect(thrown(() => chains.refuseCall('http://x/a2a', third))).toEqual(refusal);
    expect(thrown(() => chains.refuseCall('http://x/a2a/.well-known/agent-card.json', third))).toEqual(refusal);
    expect(thrown(() => chains.refuseCall('http://new', third))).toBeUndefined();
  });

  it('believes only its own hops, each as it was signed', () => {
    expect(thrown(() => chains.refuseReentry('workflows/b', third))).toBeUndefined();
    const forged = first.map((hop): Hop => ({ ...hop, caller: 'workflows/victim' }));
    expect(thrown(() => chains.refuseReentry('workflows/victim', forged))).toBeUndefined();
    expect(thrown(() => chains.refuseCall('http://y', second))).toBeUndefined();
  });

  it('refuses a depth that makes no sense, whoever signed it', () => {
    const hop = second[1] as Hop;
    expect(thrown(() => chains.refuseReentry('workflows/a', Array(32).fill(hop)))).toEqual(refusal);
    expect(thrown(() => chains.refuseReentry('workflows/a', Array(31).fill(hop)))).toBeUndefined();
  });

  it('is read from the Message or the request, as far as it is one', () => {
    const message = userMessage('x', { metadata: hopMetadata(first) });
    expect(hopsOf({ message })).toEqual(first);
    expect(hopsOf({ message: userMessage('x'), metadata: hopMetadata(first) })).toEqual(first);
    expect(keptHops({ [HOP_CHAIN]: ['x', null, { root: 1 }, ...(hopMetadata(first)[HOP_CHAIN] as [])] })).toEqual(
      first,
    );
    expect(keptHops({ [HOP_CHAIN]: 'x' })).toEqual([]);
    expect(hopMetadata([])).toEqual({});
  });
});

test.each([
  ['http://a/', 'http://a'],
  ['http://a/a2a/agent-card', 'http://a/a2a'],
  ['http://a/.well-known/agent-card.json', 'http://a'],
  ['http://a/x/.well-known/agent.json', 'http://a/x'],
  ['http://agent-card', 'http://agent-card'],
  ['http://agent-card/agent-card', 'http://agent-card'],
  ['workflows/a', 'workflows/a'],
])('%s is %s', (url, callee) => {
  expect(calleeOf(url)).toBe(callee);
});
