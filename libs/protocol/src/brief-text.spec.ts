import { briefText, textStart, withoutHalf } from './text.js';

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

describe('the start of a text', () => {
  it('keeps characters whole, wherever it ends', () => {
    const text = '😀a😀😀b'.repeat(20);
    for (let most = 0; most <= text.length + 1; most += 1) {
      const start = textStart(text, most);
      expect(start.isWellFormed()).toBe(true);
      expect(text.startsWith(start)).toBe(true);
      expect(start.length).toBeGreaterThanOrEqual(Math.min(most, text.length) - 1);
      expect(start.length).toBeLessThanOrEqual(most);
      expect(briefText(text, most).isWellFormed()).toBe(true);
    }
  });

  it('leaves half a character at its end to what comes next', () => {
    expect(withoutHalf('a\ud83d')).toBe('a');
    expect(withoutHalf('a\ude00')).toBe('a\ude00');
    expect(withoutHalf('a😀')).toBe('a😀');
    expect(withoutHalf('')).toBe('');
  });
});
