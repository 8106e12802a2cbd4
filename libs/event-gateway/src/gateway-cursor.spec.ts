import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../test/support/any-character.js';
import { decodeCursor, encodeCursor, knownPlace } from './gateway-cursor.js';

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
      fc.string({ unit: ANY_CHARACTER, maxLength: 300 }),
      fc.stringMatching(/^[0-9a-z]{0,13}(~[\w-]{0,5}\.[0-9a-z]{0,15}(\.\d{0,12})?){0,4}$/),
      fc
        .tuple(places, fc.nat(), fc.string({ unit: ANY_CHARACTER, maxLength: 3 }))
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

describe('the part of a cursor that the log knows', () => {
  const at = new Date(0);
  const placeOf = (position: [string, bigint][], partly: [string, number][] = []) => ({
    position: new Map(position),
    partly: new Map(partly),
    at,
  });

  it('has no writers but those of the log, however many are named', () => {
    const strangers = Array.from({ length: 2_000 }, (_, n): [string, bigint] => [`stranger${n}`, 5n]);
    const begun = strangers.map(([writer]): [string, number] => [writer, 3]);
    const log = new Map([
      ['1', 9n],
      ['2', 7n],
    ]);
    const known = knownPlace(placeOf([...strangers, ['1', 4n]], [...begun, ['2', 65]]), log);
    expect(known).toEqual(placeOf([['1', 4n]], [['2', 65]]));
  });

  it('is not ahead of the log', () => {
    const log = new Map([['1', 9n]]);
    expect(knownPlace(placeOf([['1', 2n ** 63n - 1n]], [['1', 65]]), log)).toEqual(placeOf([['1', 9n]]));
    expect(knownPlace(placeOf([['1', 9n]], [['1', 65]]), log)).toEqual(placeOf([['1', 9n]]));
  });

  it('is all of one that the log wrote', () => {
    const place = placeOf(
      [
        ['1', 4n],
        ['2', 7n],
      ],
      [['1', 65]],
    );
    const log = new Map([
      ['1', 9n],
      ['2', 7n],
      ['3', 1n],
    ]);
    expect(knownPlace(place, log)).toEqual(place);
  });
});

/** Returns the text with `noise` in place of one character. */
function spoiled(text: string, at: number, noise: string): string {
  const place = at % text.length;
  return `${text.slice(0, place)}${noise}${text.slice(place + 1)}`;
}
