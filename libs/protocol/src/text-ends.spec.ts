import { textBefore, withoutTrailing } from './text.js';

describe('the end of a text', () => {
  it.each([
    ['https://agent.example//', '/', 'https://agent.example'],
    ['https://agent.example/a', '/', 'https://agent.example/a'],
    ['//', '/', ''],
    ['', '/', ''],
    ['Ship it!?.', '.!?', 'Ship it'],
    ['a/.\n', '/', 'a/.\n'],
  ])('of %j loses %j', (text, characters, rest) => {
    expect(withoutTrailing(text, characters)).toBe(rest);
  });

  it('is found in the time of its length, whatever lies before it', () => {
    const most = 4_000_000;
    expect(withoutTrailing('/'.repeat(most), '/')).toBe('');
    expect(withoutTrailing(`${'/'.repeat(most)}a`, '/')).toHaveLength(most + 1);
    expect(withoutTrailing('/////a'.repeat(most / 6), '/')).toHaveLength(6 * Math.floor(most / 6));
  });
});

describe('what stands before a character', () => {
  it.each([
    ['https://agent.example/a?key=1#part', '?#', 'https://agent.example/a'],
    ['https://agent.example/a#part?', '?#', 'https://agent.example/a'],
    ['draft@2[3]', '@[', 'draft'],
    ['a\n@b\n', '@', 'a\n'],
    ['plain', '@[', 'plain'],
    ['@', '@', ''],
  ])('of %j and %j is read', (text, characters, before) => {
    expect(textBefore(text, characters)).toBe(before);
  });
});
