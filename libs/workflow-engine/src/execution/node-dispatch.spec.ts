import fc from 'fast-check';
import type { JsonObject } from '#libs/protocol';
import { callsOthers, dispatchMessageId, nodeTimeout } from './node-dispatch.js';

describe('dispatchMessageId', () => {
  test('is the same for the same call, a UUID, and another one for any other', () => {
    const call = fc.tuple(fc.string(), fc.string(), fc.nat(5), fc.string());
    fc.assert(
      fc.property(call, call, (one, other) => {
        expect(dispatchMessageId(...one)).toBe(dispatchMessageId(...one));
        expect(dispatchMessageId(...one)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        expect(dispatchMessageId(...one)).not.toBe(dispatchMessageId(...other));
      }),
    );
  });
});

test.each([
  [{}, 30_000],
  [{ timeout: 1 }, 1_000],
  [{ timeout: '2.5' }, 2_500],
  [{ timeout: 0 }, 30_000],
  [{ timeout: 'soon' }, 30_000],
  [{ timeout: 1e12 }, 2 ** 31 - 1],
])('an external node with %j has %i ms (E1, E8)', (config, timeout) => {
  expect(nodeTimeout({ id: 'ext', type: 'external', config })).toBe(timeout);
  expect(nodeTimeout({ id: 'a', type: 'agent', config })).toBeUndefined();
});

const CHAINED: [type: string, config: JsonObject, hasChain: boolean][] = [
  ['agent', { tools: ['calculator', 'agent:poet'] }, true],
  ['agent', { tools: [{ agent: 'poet' }] }, true],
  ['agent', { tools: ['calculator', 'docs/*'] }, false],
  ['agent', {}, false],
  ['set', { tools: ['agent:poet'] }, false],
  ['external', {}, true],
];

test.each(CHAINED)('a node of the type %s with %j gets the calls that led to it: %s', (type, config, hasChain) => {
  expect(callsOthers({ type, config })).toBe(hasChain);
});
