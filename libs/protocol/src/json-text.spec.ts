import { jest } from '@jest/globals';
import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../test/support/any-character.js';
import { endOfJsonString, parseJson, refuseUnfitText, UnfitJson, unfitValue } from './json.js';

function refusal(read: () => unknown): { path: string; detail: string } | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof UnfitJson)) throw error;
    return { path: error.path, detail: error.detail };
  }
}

/** Returns the milliseconds of the fastest of five rounds. */
function fastest(work: () => unknown): number {
  const rounds = Array.from({ length: 5 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return Math.min(...rounds);
}

const NO_NUMBER = 'must be a finite number';
const DEEP = 40_000;
const lists = (inner: string): string => `${'['.repeat(DEEP)}${inner}${']'.repeat(DEEP)}`;
const objects = (inner: string): string => `${'{"a":'.repeat(DEEP)}${inner}${'}'.repeat(DEEP)}`;

describe('a number beyond IEEE 754', () => {
  it.each([
    ['as a whole text', '', '1e999'],
    ['in a list', 'inputs.prices[1]', '{"inputs":{"prices":[1,-1E+309]}}'],
    ['in a list of lists', '[0][0]', '[[1.5e0309]]'],
    ['of 309 digits', 'n', `{"n":${'9'.repeat(309)}}`],
    ['of many digits and an exponent', 'n', `{"n":${'9'.repeat(305)}e9 , "m":1}`],
    ['of many zeros and an exponent', 'n', `{"n":0.${'0'.repeat(300)}1e700}`],
    ['under an empty name', 'a b.', '{"a b":{"":1e400}}'],
    ['under a name with a quote', 'quoted " 1e5[0]', String.raw`{"quoted \" 1e5":[1e999]}`],
  ])('%s is refused with its path %j', (_where, path, text) => {
    expect(refusal(() => parseJson(text))).toEqual({ path, detail: NO_NUMBER });
  });

  it.each([
    ['the largest power', '1e308'],
    ['a number of no size', '-12.5e-999'],
    ['309 digits', `1${'0'.repeat(308)}`],
    ['a small number with a large exponent', `0.${'0'.repeat(400)}1e405`],
    ['many digits with a negative exponent', `${'1'.repeat(400)}e-200`],
    ['groups of 299 digits', `[${Array.from({ length: 50 }, () => '1'.repeat(299)).join(', ')}]`],
    ['groups of 308 digits', `[${Array.from({ length: 50 }, () => '1'.repeat(308)).join(',')}]`],
    ['an exponent of many digits', '1e000000000000000000000000000000000000000000005'],
    ['strings and names', '{"text":"1e999, 1e999] ","1e999":0}'],
    ['strings with escapes', String.raw`["\\", "\"1e999", 0]`],
    ['a member that a later one replaces', '{"a":1e999,"a":1}'],
  ])('is not found in %s', (_what, text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it('is found beside, before, after and in what is nested deep', () => {
    const deep = [lists('0'), objects('0')];
    for (const other of deep) {
      expect(refusal(() => parseJson(`{"deep":${other},"n":1e999}`))).toEqual({ path: 'n', detail: NO_NUMBER });
      expect(refusal(() => parseJson(`{"n":1e999,"deep":${other}}`))).toEqual({ path: 'n', detail: NO_NUMBER });
    }
    for (const text of [lists('1e999'), objects('1e999')]) {
      const path = refusal(() => parseJson(text))?.path ?? '';
      expect(path).toMatch(/^(\[0\]|a)[[\]0.a]+…$/);
      expect(path.length).toBeLessThan(210);
    }
  });

  it('is found wherever a parser reads one', () => {
    const number = fc.constantFrom('1e999', '-1e400', '1', '0.5', '9'.repeat(400));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), number, fc.nat(3), (value, text, indent) => {
        const json = JSON.stringify({ value, n: 'N' }, undefined, indent).replace(/"N"(?=\s*\}$)/, text);
        const found = unfitValue(JSON.parse(json))?.path;
        expect(refusal(() => parseJson(json))?.path).toBe(found);
        expect(found).toBe(Number.isFinite(Number(text)) ? undefined : 'n');
      }),
    );
  });

  it('is looked for in less time than a pattern of 300 digits takes, which begins anew at each digit', () => {
    const numbers = `[${`${'1'.repeat(299)},`.repeat(1_000)}1]`;
    expect(fastest(() => refuseUnfitText(numbers))).toBeLessThan(fastest(() => new RegExp(`\\d{300}`).test(numbers)));
  });

  it.each([
    ['groups of 299 digits', `[${`${'1'.repeat(299)},`.repeat(50_000)}1]`],
    ['groups of 308 digits', `[${`${'1'.repeat(308)},`.repeat(50_000)}1]`],
    ['one number', `[0.${'1'.repeat(16_000_000)}]`],
    ['one exponent', `[1e${'0'.repeat(16_000_000)}5]`],
    ['a string of digits', JSON.stringify('1'.repeat(16_000_000))],
  ])('is looked for in as much as an agent may answer, in %s', (_what, text) => {
    expect(refusal(() => refuseUnfitText(text))).toBeUndefined();
  });
});

describe('nesting', () => {
  it('is counted outside strings, and refused beyond the limit', () => {
    expect(refusal(() => parseJson('[[{"a":["[[[[["]}]]', 4))).toBeUndefined();
    const detail = 'must not be nested deeper than 3 levels';
    expect(refusal(() => parseJson('[[{"a":["[[[[["]}]]', 3))).toEqual({ path: '', detail });
    expect(refusal(() => parseJson(lists('0'), 500))).toMatchObject({ path: '' });
  });

  it('of a text that is no JSON is left to the parser', () => {
    for (const text of ['', '"', '[1e999', '"\\', ']]]]', '1-2', '--', '1e999 1e999 [']) {
      expect(refusal(() => refuseUnfitText(text, 5))).toBeUndefined();
      expect(() => parseJson(text)).toThrow(SyntaxError);
    }
  });

  it('is told once of a text with a million numbers that are none and an end that is no JSON', () => {
    expect(() => parseJson(`[${'1e999,'.repeat(500_000)}`)).toThrow(SyntaxError);
  });
});

describe('the end of a string in a JSON text', () => {
  it('is its last quote, whatever is in it', () => {
    const strings = fc.oneof(fc.string({ unit: ANY_CHARACTER }), fc.stringMatching(/^[\\"a]{0,20}$/));
    fc.assert(
      fc.property(strings, (value) => {
        const text = JSON.stringify(value);
        expect(endOfJsonString(`${text},"more"`, 0)).toBe(text.length - 1);
      }),
    );
  });

  it('is found with one search, however many quotes are in the string', () => {
    const text = JSON.stringify('"'.repeat(1_000_000));
    const searches = jest.spyOn(String.prototype, 'indexOf');
    const end = endOfJsonString(text, 0);
    const count = searches.mock.calls.length;
    searches.mockRestore();
    expect([end, count]).toEqual([text.length - 1, 1]);
  });
});
