import { RE2JS } from 're2js';
import { ecmaPattern } from './schema-cost.js';

const CHARACTERS = [
  ...Array.from({ length: 0x300 }, (_, code) => code),
  ...[0x1680, 0x180e, 0x2000, 0x200a, 0x200b, 0x2027, 0x2028, 0x2029, 0x202a, 0x202f, 0x205f, 0x2060, 0x3000, 0x3001],
  ...[0xfefe, 0xfeff, 0xff00, 0x1f600, 0x10ffff],
].map((code) => String.fromCodePoint(code));

describe('a pattern of a JSON Schema', () => {
  it.each([
    String.raw`^\s$`,
    String.raw`^\S$`,
    '^.$',
    String.raw`^[\s]$`,
    String.raw`^[^\s]$`,
    String.raw`^[\Sa]$`,
    String.raw`^[^\S]$`,
    String.raw`^[\s\S]$`,
    String.raw`^[a.\s-]$`,
    '^[.]$',
    '^[^.]$',
    String.raw`^\.$`,
    String.raw`^\v$`,
    String.raw`^\\?.$`,
    String.raw`^[\]\s.]$`,
    String.raw`^(?:.|\n)$`,
    '^a{0,3}.?$',
  ])('%s takes what JavaScript takes', (pattern) => {
    const [ours, theirs] = [RE2JS.compile(ecmaPattern(pattern)), new RegExp(pattern, 'u')];
    const differs = CHARACTERS.filter((it) => ours.matcher(it).find() !== theirs.test(it));
    expect(differs.map((it) => it.codePointAt(0))).toEqual([]);
  });

  it.each([String.raw`\Q.\E\s`, '(?s).', '(?is:.)', '[[:space:].]', '[]a.]', '[^]a.]', String.raw`\p{L}\x{2e}`])(
    '%s stays what RE2 takes',
    (pattern) => {
      expect(ecmaPattern(pattern)).toBe(pattern);
    },
  );

  it('has no more instructions than before, but for what a class takes', () => {
    for (const pattern of [String.raw`^\s*\S+.{1,100}\s$`, '.*a.*b.*c'])
      expect(RE2JS.compile(ecmaPattern(pattern)).programSize()).toBeLessThanOrEqual(
        RE2JS.compile(pattern).programSize(),
      );
  });
});
