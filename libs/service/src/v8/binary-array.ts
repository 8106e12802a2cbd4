/** OIDs of the element types of arrays (pg_type.dat). They never change. */
const OIDS = { boolean: 16, integer: 23, text: 25, json: 114, timestamp: 1184 } as const;

const HEADER_BYTES = 20;
/** Milliseconds from 1970-01-01 (the epoch of JavaScript) to 2000-01-01 (the epoch of PostgreSQL's times). */
const EPOCH_OFFSET_MS = 946_684_800_000;
const TWO_TO_32 = 2 ** 32;
const NULL_LENGTH = -1;
const LONG = 16 * 1024;
/** Number of characters of a UUID. A text of that length or more is unlikely to repeat the previous text. */
const IDS_LENGTH = 36;
const FIRST_BYTES = 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Column of a batch in PostgreSQL's binary form of a one-dimensional array, which needs no escaping or parsing. All
 * values have the column's type; null is allowed.
 */
export class BinaryArray {
  /**
   * Buffer for the values. It is allocated with the first value, because a batch leaves some columns without values.
   */
  private buffer: Buffer = NOTHING;
  private end = HEADER_BYTES;
  private count = 0;
  private hasNull = false;
  private lastText: string | undefined;
  private lastStart = 0;
  private lastLength = 0;

  constructor(private readonly type: keyof typeof OIDS) {}

  /** Adds a value of a text or json column. */
  addText(value: string): void {
    // UTF-8 takes at most three bytes per UTF-16 code unit. For a long text the exact length is worth computing.
    this.reserveBytes(4 + (value.length > LONG ? Buffer.byteLength(value) : value.length * 3));
    const start = this.end + 4;
    const repeats = value.length < IDS_LENGTH && value === this.lastText;
    const length = repeats ? this.repeatText(start) : this.buffer.write(value, start);
    this.writeInt32(length, this.end);
    [this.lastText, this.lastStart, this.lastLength] = [value, start, length];
    this.end = start + length;
    this.count += 1;
  }

  /** @throws RangeError if the value is not an integer of 32 bits */
  addInteger(value: number): void {
    if (value !== (value | 0)) throw new RangeError(`${value} is no integer of 32 bits`);
    this.reserveBytes(8);
    this.writeInt32(4, this.end);
    this.writeInt32(value, this.end + 4);
    this.end += 8;
    this.count += 1;
  }

  addBoolean(value: boolean): void {
    this.reserveBytes(5);
    this.writeInt32(1, this.end);
    this.buffer[this.end + 4] = value ? 1 : 0;
    this.end += 5;
    this.count += 1;
  }

  /** Adds a time with millisecond precision. */
  addTimestamp(value: Date): void {
    this.reserveBytes(12);
    this.writeInt32(8, this.end);
    const ms = value.getTime() - EPOCH_OFFSET_MS;
    // In two halves, which numbers represent exactly and which are faster to write than a BigInt.
    const high = Math.floor(ms / TWO_TO_32);
    const low = (ms - high * TWO_TO_32) * 1000;
    this.writeInt32(high * 1000 + Math.floor(low / TWO_TO_32), this.end + 4);
    this.writeInt32(low % TWO_TO_32, this.end + 8);
    this.end += 12;
    this.count += 1;
  }

  /** Adds a value of the column's type; `undefined` is a null. */
  add(value: string | number | Date | undefined): void {
    if (value === undefined) this.addNull();
    else if (typeof value === 'string') this.addText(value);
    else if (typeof value === 'number') this.addInteger(value);
    else this.addTimestamp(value);
  }

  addNull(): void {
    this.reserveBytes(4);
    this.writeInt32(NULL_LENGTH, this.end);
    this.end += 4;
    this.count += 1;
    this.hasNull = true;
  }

  addOptionalText(value: string | undefined): void {
    if (value === undefined) this.addNull();
    else this.addText(value);
  }

  /** Returns the array as a statement's parameter. Nothing may be added afterwards. */
  toBuffer(): Buffer {
    this.reserveBytes(0);
    const { buffer } = this;
    const dimensions = this.count === 0 ? 0 : 1;
    this.writeInt32(dimensions, 0);
    this.writeInt32(this.hasNull ? 1 : 0, 4);
    this.writeInt32(OIDS[this.type], 8);
    if (dimensions === 0) return buffer.subarray(0, 12);
    this.writeInt32(this.count, 12);
    this.writeInt32(1, 16);
    return buffer.subarray(0, this.end);
  }

  /**
   * Adds the previous text once more, as a copy of its bytes: rows of a batch often repeat a text, and copying avoids a
   * call into the runtime.
   * @param start offset in the buffer at which the copy is written
   * @returns the number of bytes
   */
  private repeatText(start: number): number {
    const { buffer, lastStart, lastLength } = this;
    for (let index = 0; index < lastLength; index += 1) buffer[start + index] = buffer[lastStart + index]!;
    return lastLength;
  }

  /** Writes the lowest 32 bits of a number at an offset, big-endian, without the checks of `Buffer`'s methods. */
  private writeInt32(value: number, at: number): void {
    const { buffer } = this;
    buffer[at] = value >>> 24;
    buffer[at + 1] = value >>> 16;
    buffer[at + 2] = value >>> 8;
    buffer[at + 3] = value;
  }

  private reserveBytes(bytes: number): void {
    if (this.end + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(FIRST_BYTES, this.buffer.length * 2, this.end + bytes));
    this.buffer.copy(larger, 0, 0, this.end);
    this.buffer = larger;
  }
}
