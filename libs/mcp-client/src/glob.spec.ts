import { matchesGlob } from './mcp-tools.js';

test.each([
  ['search', 'search', true],
  ['search', 'search_code', false],
  ['search_*', 'search_code', true],
  ['search_*', 'search_', true],
  ['*', '', true],
  ['*', 'any/thing.at-all', true],
  ['*_code', 'search_code_code', true],
  ['s*c*e', 'search_code', true],
  ['s*c*x', 'search_code', false],
  ['?earch', 'search', true],
  ['?earch', 'earch', false],
  ['a?', 'a', false],
  ['a.b', 'axb', false],
  ['a**', 'a', true],
])('%s and %s: %s', (glob, text, matches) => {
  expect(matchesGlob(glob, text)).toBe(matches);
});

test('many stars take no longer than they must', () => {
  expect(matchesGlob(`${'a*'.repeat(64)}b`, 'a'.repeat(10_000))).toBe(false);
});
