import { briefText, textStart } from './text-start.js';

describe('a text that is cut', () => {
  it.each([
    ['a😀b', 2, 'a'],
    ['a😀b', 3, 'a😀'],
    ['a😀b', 4, 'a😀b'],
    ['a\ud83d', 2, 'a\ud83d'],
  ])('%j keeps whole characters of the first %d code units', (text, most, start) => {
    expect(textStart(text, most)).toBe(start);
  });

  it('has an ellipsis', () => {
    expect(briefText('a😀b', 2)).toBe('a…');
    expect(briefText('a😀b', 4)).toBe('a😀b');
  });
});
