import type { JsonValue } from '#libs/protocol';
import { isContained } from './script-node.js';

describe('isContained', () => {
  it.each<[JsonValue, JsonValue | undefined, boolean]>([
    [{}, { a: 1 }, true],
    [{ a: { b: [1, { c: null }] } }, { a: { b: [1, { c: null, d: 2 }], e: 3 } }, true],
    ['x', 'x', true],
    [null, null, true],
    [[], [], true],
    [{}, [], false],
    [{}, undefined, false],
    [null, undefined, false],
    [{ a: null }, {}, false],
    [{ toString: {} }, {}, false],
    [[1], [1, 2], false],
    [[1], { 0: 1, length: 1 }, false],
    [{ a: 1 }, { a: '1' }, false],
  ])('%j in %j: %p', (wanted, value, holds) => {
    expect(isContained(wanted, value)).toBe(holds);
  });
});
