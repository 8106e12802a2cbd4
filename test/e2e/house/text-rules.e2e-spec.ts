import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const RULES = pathToFileURL(join(import.meta.dirname, '../../../scripts/text-rules.mjs')).href;
const { textFaults } = (await import(RULES)) as { textFaults: (line: string) => string[] };

describe('the house rules for texts of others', () => {
  it.each([
    [String.raw`  return url.replace(/\/+$/, '');`, 'a pattern that starts again'],
    [String.raw`  return text.trim().replace(/[.!?]+$/, '');`, 'a pattern that starts again'],
    [String.raw`  const words = text.split(/\s*,/);`, 'a pattern that starts again'],
    [String.raw`  return url.replace(/[?#].*$/, '');`, 'a pattern that starts again'],
    [String.raw`const end = /\uFFFD+$/;`, 'a pattern that starts again'],
    [String.raw`export const END: RegExp = /\p{Zs}+$/u;`, 'a pattern that starts again'],
    [String.raw`  static readonly #end = /\x20+$/;`, 'a pattern that starts again'],
    [String.raw`  /\u{1F600}*$/u,`, 'a pattern that starts again'],
    [String.raw`const SPACES = /(\s+)$/;`, 'a pattern that starts again'],
    [String.raw`const LENGTH = /(?<digits>(?:\d+))px/;`, 'a pattern that starts again'],
    [String.raw`const MAYBE = /\de\+?\d{2,}\s*[,}\]]|\d{300}/i;`, 'a counted repetition'],
    [String.raw`const MAYBE = /[eE]\+?\d{3}|\d{309}/;`, 'a counted repetition'],
    ['const shown = name.slice(0, 64);', 'a text that may be cut'],
    ['return `${text.slice(0, LONGEST - 1)}…`;', 'a text that may be cut'],
  ])('refuse %s', (line, fault) => {
    expect(textFaults(line)).toEqual([expect.stringContaining(fault)]);
  });

  it.each([
    [String.raw`  return url.replace(/(?<!\/)\/+$/, '');`],
    [String.raw`const NAME = /^[a-z]+$/;`],
    [String.raw`const end = /(?<!\uFFFD)\uFFFD+$/;`],
    [String.raw`  const keys = [...member.matchAll(/([^.[\]]+)|\[(\d+)\]/g)];`],
    [String.raw`const word = /^\p{L}+$/u;`],
    [String.raw`  return host.replace(/:\d+$/, '');`],
    [String.raw`  const line = text.replaceAll(/\s+/g, ' ');`],
    [String.raw`  const words = text.match(/[a-z]+|\d+/g);`],
    [String.raw`const NAME = /^[A-Za-z0-9_-]{1,300}$/;`],
    [' * A comment on /x+$/ and text.slice(0, 64).'],
    ['  const half = total / 2; const rest = a+$/2;'],
    ["  return createHash('sha256').update(text).digest('hex').slice(0, 64);"],
    ['  return found.slice(0, MOST_PROBLEMS);'],
    ['  return list.slice(0, 10);'],
  ])('take %s', (line) => {
    expect(textFaults(line)).toEqual([]);
  });
});
