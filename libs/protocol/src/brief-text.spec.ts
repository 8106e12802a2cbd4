import { briefText } from './brief-text.js';

describe('a brief text', () => {
  it.each([
    ['a😀b', 4, 'a😀b'],
    ['a😀bc', 4, 'a😀b…'],
    ['a😀bc', 3, 'a😀…'],
    ['a😀bc', 2, 'a…'],
    ['a'.repeat(8_193), undefined, `${'a'.repeat(8_192)}…`],
  ])('of %j with at most %d', (text, most, brief) => {
    expect(briefText(text, most)).toBe(brief);
  });
});
