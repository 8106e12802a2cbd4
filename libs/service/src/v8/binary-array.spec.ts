import { BinaryArray } from './binary-array.js';

/** The elements of a one-dimensional array in PostgreSQL's binary form. */
function elements(array: Buffer): (Buffer | null)[] {
  const count = array.readInt32BE(0) === 0 ? 0 : array.readInt32BE(12);
  const found: (Buffer | null)[] = [];
  for (let at = 20; found.length < count;) {
    const length = array.readInt32BE(at);
    found.push(length < 0 ? null : array.subarray(at + 4, at + 4 + length));
    at += 4 + Math.max(length, 0);
  }
  return found;
}

describe('BinaryArray', () => {
  it('holds texts as they are, also one that comes again, and where it has to grow between them', () => {
    const texts = [
      'a',
      'a',
      '',
      '',
      'ü€😀',
      'ü€😀',
      'x'.repeat(2_000),
      'b',
      'b',
      '0190-'.repeat(10),
      '0190-'.repeat(10),
    ];
    const array = new BinaryArray('text');
    for (const text of texts) array.addText(text);
    expect(elements(array.toBuffer()).map(String)).toEqual(texts);
  });

  it('holds integers of 32 bits, and refuses what is none', () => {
    const integers = [0, -1, 255, 256, 2 ** 31 - 1, -(2 ** 31)];
    const array = new BinaryArray('integer');
    for (const integer of integers) array.addInteger(integer);
    expect(elements(array.toBuffer()).map((it) => it?.readInt32BE(0))).toEqual(integers);
    for (const other of [2 ** 31, -(2 ** 31) - 1, 0.5, Number.NaN]) {
      expect(() => array.addInteger(other)).toThrow(`${other} is no integer of 32 bits`);
    }
  });

  it('holds times as microseconds since 2000, and nulls', () => {
    const times = ['1999-12-31T23:59:59.999Z', '2000-01-01T00:00:00.000Z', '2026-11-26T08:30:00.123Z'].map(
      (it) => new Date(it),
    );
    const array = new BinaryArray('timestamp');
    for (const time of times) array.addTimestamp(time);
    array.addNull();
    const expected = times.map((time) => BigInt(time.getTime() - Date.UTC(2000)) * 1000n);
    expect(elements(array.toBuffer()).map((it) => it && it.readBigInt64BE(0))).toEqual([...expected, null]);
  });
});
