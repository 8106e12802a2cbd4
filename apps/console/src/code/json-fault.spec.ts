import fc from 'fast-check';
import { findJsonFault } from './json-fault.js';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('findJsonFault', () => {
  it.each([
    ['{"a": [1, {}], "b": null} ', undefined],
    ['{\n  "a": nothing\n}', 9],
    ['{"a": 1', 7],
    ['{"a": 1,}', 8],
    ['[1 2]', 3],
    ['{"a" 1}', 5],
    ['[1}', 2],
    ['{} x', 3],
    ['"a\nb"', 0],
    ['01', 1],
    ['', 0],
    ['{,', 1],
    ['[]]', 2],
  ])('%j: %s', (text, at) => expect(findJsonFault(text)).toBe(at));

  it('finds a fault exactly where JSON.parse refuses a text', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      '1',
      '-',
      '.5',
      'e',
      'true',
      ' ',
      '\n',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(pieces, { maxLength: 8 }).map((them) => them.join('')),
          fc.json(),
        ),
        (text) => {
          expect(findJsonFault(text) === undefined).toBe(isJson(text));
        },
      ),
    );
  });

  it('reads deep and long texts', () => {
    expect(findJsonFault('['.repeat(100_000))).toBe(100_000);
    expect(findJsonFault(`"${'a'.repeat(1_000_000)}"`)).toBeUndefined();
  });
});
