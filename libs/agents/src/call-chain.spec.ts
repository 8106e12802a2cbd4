import { userMessage } from '#libs/protocol';
import {
  calledAgentOf,
  type ChainLink,
  CALL_CHAIN,
  CallChains,
  chainMetadata,
  chainOf,
  keptChain,
} from './call-chain.js';

const chains = new CallChains(Buffer.from('our secret'));
const others = new CallChains(Buffer.from('their secret'));
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

describe('CallChains', () => {
  const first = chains.extendChain([], call('t1', 'workflows/a', 'http://x/a2a/'));
  const second = others.extendChain(first, call('u1', 'workflows/b', 'http://y'));
  const third = chains.extendChain(second, call('t2', 'workflows/c', 'http://z'));

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
    const forged = first.map((link): ChainLink => ({ ...link, caller: 'workflows/victim' }));
    expect(thrown(() => chains.refuseReentry('workflows/victim', forged))).toBeUndefined();
    expect(thrown(() => chains.refuseCall('http://y', second))).toBeUndefined();
  });

  it('tells whose work a call is and how deep it lies, by what this service has signed', () => {
    expect(chains.findPlace([])).toEqual({ root: undefined, depth: 0 });
    expect(chains.findPlace(first)).toEqual({ root: chains.rootOf(first), depth: 1 });
    const deeper = chains.extendChain(first, { task: 't9', caller: 'workflows/x', callee: 'http://z' });
    expect(chains.findPlace(deeper)).toEqual({ root: chains.rootOf(first), depth: 2 });
    const forged = first.map((link): ChainLink => ({ ...link, root: 'another' }));
    expect(chains.findPlace(forged)).toEqual({ root: undefined, depth: 0 });
  });

  describe('of a conversation that an agent holds by a tool', () => {
    const asked = chains.extendChain([], call('t0', 'workflows/run', 'nodes/poet'));
    const talk = chains.extendChain(asked, call('t1', 'nodes/poet', 'conversations'));
    const turn = chains.extendChain(talk, call('c1', 'conversations', 'nodes/poet'));
    const other = chains.extendChain(talk, call('c1', 'conversations', 'nodes/critic'));

    it('lets the conversation call that agent, and the agent answer', () => {
      expect(thrown(() => chains.refuseCall('nodes/poet', talk))).toBeUndefined();
      expect(thrown(() => chains.refuseReentry('nodes/poet', turn))).toBeUndefined();
    });

    it('refuses that agent to the other side, and to whoever its own turn leads to', () => {
      const back = chains.extendChain(other, call('t2', 'nodes/critic', 'nodes/poet'));
      expect(thrown(() => chains.refuseCall('nodes/poet', other))).toEqual(refusal);
      expect(thrown(() => chains.refuseReentry('nodes/poet', back))).toEqual(refusal);
      const deeper = chains.extendChain(turn, call('t3', 'nodes/poet', 'nodes/judge'));
      expect(thrown(() => chains.refuseCall('nodes/poet', deeper))).toEqual(refusal);
      expect(thrown(() => chains.refuseReentry('nodes/poet', deeper))).toEqual(refusal);
    });

    it('refuses the agent to the conversation of another, and by links of another service', () => {
      expect(thrown(() => chains.refuseCall('workflows/run', talk))).toBeUndefined();
      expect(thrown(() => chains.refuseReentry('workflows/run', turn))).toEqual(refusal);
      const forged = others.extendChain(asked, call('t1', 'nodes/poet', 'conversations'));
      expect(thrown(() => chains.refuseCall('nodes/poet', forged))).toEqual(refusal);
      const unsigned = others.extendChain(talk, call('c1', 'conversations', 'nodes/poet'));
      expect(thrown(() => chains.refuseReentry('nodes/poet', unsigned))).toEqual(refusal);
    });

    it('counts towards the depth', () => {
      const deep = [...Array(31).fill(asked[0]), talk[1]!];
      expect(thrown(() => chains.refuseCall('nodes/poet', deep))).toEqual(refusal);
    });
  });

  it('refuses a depth that makes no sense, whoever signed it', () => {
    const link = second[1] as ChainLink;
    expect(thrown(() => chains.refuseReentry('workflows/a', Array(32).fill(link)))).toEqual(refusal);
    expect(thrown(() => chains.refuseReentry('workflows/a', Array(31).fill(link)))).toBeUndefined();
  });

  it('is read from the Message or the request, as far as it is one', () => {
    const message = userMessage('x', { metadata: chainMetadata(first) });
    expect(chainOf({ message })).toEqual(first);
    expect(chainOf({ message: userMessage('x'), metadata: chainMetadata(first) })).toEqual(first);
    expect(keptChain({ [CALL_CHAIN]: ['x', null, { root: 1 }, ...(chainMetadata(first)[CALL_CHAIN] as [])] })).toEqual(
      first,
    );
    expect(keptChain({ [CALL_CHAIN]: 'x' })).toEqual([]);
    expect(chainMetadata([])).toEqual({});
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
  expect(calledAgentOf(url)).toBe(callee);
});
