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

  it('of whatever text are refused, or read as they would be written', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.stringMatching(/^[0-9a-z]{0,13}(~[\w-]{0,5}\.[0-9a-z]{0,15}(\.\d{0,12})?){0,4}$/),
      fc
        .tuple(places, fc.nat(), fc.string({ unit: 'binary', maxLength: 3 }))
        .map(([place, at, noise]) => spoiled(encodeCursor(place), at, noise)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          const { position, partly, at } = decodeCursor(text);
          expect(encodeCursor({ position, partly, at })).toBe(text);
          for (const reached of position.values()) expect(BigInt.asIntN(64, reached)).toBe(reached);
          for (const frames of partly.values()) expect(frames).toBeLessThan(2 ** 31);
        } catch (error) {
          expect(error).toMatchObject({ reason: 'INVALID_PARAMS', violations: [{ field: 'since' }] });
        }
      }),
      { numRuns: 2_000 },
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
    // Beyond what the database counts to.
    '1~a.zzzzzzzzzzzzz',
    `1~a.${(2n ** 63n).toString(36)}`,
    // Beyond the last day.
    'zzzzzzzzzzz',
    // Never written so.
    '01~a.1',
    '1~a.01',
    '1~a.1.01',
    '1~a.1~a.1',
    '1~a.1~b.1~a.2',
  ])('that nobody gave out are refused (%#)', (text) => {
    expect(() => decodeCursor(text)).toThrow(/since/);
  });
});

/** The text with something else in place of one character. */
function spoiled(text: string, at: number, noise: string): string {
  const place = at % text.length;
  return `${text.slice(0, place)}${noise}${text.slice(place + 1)}`;
}
