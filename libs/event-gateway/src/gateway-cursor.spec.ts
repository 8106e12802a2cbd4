import fc from 'fast-check';
import { decodeCursor, encodeCursor } from './gateway-cursor.js';

const writer = fc.stringMatching(/^[\w-]{1,12}$/);
const places = fc.record({
  position: fc.dictionary(writer, fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })).map((it) => new Map(Object.entries(it))),
  partly: fc.dictionary(writer, fc.integer({ min: 1, max: 999_999 })).map((it) => new Map(Object.entries(it))),
  at: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
});

describe('cursors', () => {
  it('are read as they were written, and go into a URL as they are', () => {
    fc.assert(
      fc.property(places, (place) => {
        const text = encodeCursor(place);
        expect(encodeURIComponent(text)).toBe(text);
        const read = decodeCursor(text);
        expect(read.at).toEqual(place.at);
        expect(read.partly).toEqual(place.partly);
        for (const [name, reached] of place.position) expect(read.position.get(name)).toBe(reached);
      }),
    );
  });

  it.each([
    '',
    ' ',
    'x~',
    '1~a',
    '1~a.',
    '1~a.b.c',
    '1~.1',
    '-1',
    '1~a.1~',
    '1'.repeat(12),
    `1${'~a.1'.repeat(20_000)}`,
  ])('that nobody gave out are refused (%#)', (text) => {
    expect(() => decodeCursor(text)).toThrow(/since/);
  });
});
