import fc from 'fast-check';
import { hasMoreMembers } from './json-limits.js';

/** What the scan counts, of the parsed value. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values = Object.values(value);
  return values.reduce((sum: number, it) => sum + membersOf(it), values.length);
}

/** As if the text were long. */
const long = (text: string): string => `${' '.repeat(10_000)}${text}`;

describe('members of a JSON text', () => {
  test.each([
    ['[]', 0],
    ['[[],{}]', 2],
    ['[1,2,3]', 3],
    ['{"a":{"b":[1, 2]}, "c":null}', 5],
    ['"a,b,[c"', 0],
    [String.raw`["a\",[,", "\\", "]"]`, 3],
  ])('%s has %d', (text, members) => {
    expect(hasMoreMembers(long(text), members)).toBe(false);
    if (members > 0) expect(hasMoreMembers(long(text), members - 1)).toBe(true);
  });

  test('are counted as a parser counts them', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
        const members = membersOf(value);
        const text = long(JSON.stringify(value, undefined, indent));
        expect(hasMoreMembers(text, members)).toBe(false);
        if (members > 0) expect(hasMoreMembers(text, members - 1)).toBe(true);
      }),
    );
  });

  test('of what is no JSON are passed over', () => {
    for (const text of ['"', '[1,2', '\\\\"', '"\\', ']]]]'])
      expect(typeof hasMoreMembers(long(text), 100)).toBe('boolean');
  });
});
