/** OIDs of the element types of arrays (pg_type.dat). They never change. */
const OIDS = { boolean: 16, integer: 23, text: 25, json: 114, timestamp: 1184 } as const;

const HEADER_BYTES = 20;
/** PostgreSQL counts time in microseconds from 2000-01-01. */
const EPOCH_OFFSET_MS = 946_684_800_000;
const TWO_TO_32 = 2 ** 32;
const NULL_LENGTH = -1;
const LONG = 16 * 1024;
/** Length of a UUID. A text of that length or more is unlikely to repeat the text before. */
const IDS_LENGTH = 36;
const FIRST_BYTES = 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Column of a batch in PostgreSQL's binary form of a one-dimensional array, which needs no escaping or parsing. All
 * values have the column's type; null is allowed.
 */
export class BinaryArray {
  /** Buffer, allocated with the first value: a batch has unused columns. */
  private buffer: Buffer = NOTHING;
  private end = HEADER_BYTES;
  private count = 0;
  private hasNull = false;
  private lastText: string | undefined;
  private lastStart = 0;
  private lastLength = 0;

  constructor(private readonly type: keyof typeof OIDS) {}

  /** Adds a value of a text or json column. */
  text(value: string): void {
    // UTF-8 takes at most three bytes per UTF-16 code unit. For a long text the exact length is worth computing.
    this.reserve(4 + (value.length > LONG ? Buffer.byteLength(value) : value.length * 3));
    const start = this.end + 4;
    const repeats = value.length < IDS_LENGTH && value === this.lastText;
    const length = repeats ? this.repeat(start) : this.buffer.write(value, start);
    this.put(length, this.end);
    [this.lastText, this.lastStart, this.lastLength] = [value, start, length];
    this.end = start + length;
    this.count += 1;
  }

  /** @throws RangeError if the value is not an integer of 32 bits */
  integer(value: number): void {
    if (value !== (value | 0)) throw new RangeError(`${value} is no integer of 32 bits`);
    this.reserve(8);
    this.put(4, this.end);
    this.put(value, this.end + 4);
    this.end += 8;
    this.count += 1;
  }

  boolean(value: boolean): void {
    this.reserve(5);
    this.put(1, this.end);
    this.buffer[this.end + 4] = value ? 1 : 0;
    this.end += 5;
    this.count += 1;
  }

  /** Adds a time with millisecond precision. */
  timestamp(value: Date): void {
    this.reserve(12);
    this.put(8, this.end);
    const ms = value.getTime() - EPOCH_OFFSET_MS;
    // In two halves, which numbers represent exactly and which are faster to write than a BigInt.
    const high = Math.floor(ms / TWO_TO_32);
    const low = (ms - high * TWO_TO_32) * 1000;
    this.put(high * 1000 + Math.floor(low / TWO_TO_32), this.end + 4);
    this.put(low % TWO_TO_32, this.end + 8);
    this.end += 12;
    this.count += 1;
  }

  /** Adds a value of the column's type; `undefined` is a null. */
  add(value: string | number | Date | undefined): void {
    if (value === undefined) this.null();
    else if (typeof value === 'string') this.text(value);
    else if (typeof value === 'number') this.integer(value);
    else this.timestamp(value);
  }

  null(): void {
    this.reserve(4);
    this.put(NULL_LENGTH, this.end);
    this.end += 4;
    this.count += 1;
    this.hasNull = true;
  }

  optional(value: string | undefined): void {
    if (value === undefined) this.null();
    else this.text(value);
  }

  /** Returns the array as a statement's parameter. Nothing may be added afterwards. */
  toBuffer(): Buffer {
    this.reserve(0);
    const { buffer } = this;
    const dimensions = this.count === 0 ? 0 : 1;
    this.put(dimensions, 0);
    this.put(this.hasNull ? 1 : 0, 4);
    this.put(OIDS[this.type], 8);
    if (dimensions === 0) return buffer.subarray(0, 12);
    this.put(this.count, 12);
    this.put(1, 16);
    return buffer.subarray(0, this.end);
  }

  /**
   * Copies the previous text, since rows of a batch have much in common; bytes are copied without a call into the
   * runtime.
   */
  private repeat(start: number): number {
    const { buffer, lastStart, lastLength } = this;
    for (let index = 0; index < lastLength; index += 1) buffer[start + index] = buffer[lastStart + index]!;
    return lastLength;
  }

  /** Writes the lowest 32 bits, big-endian, without the checks of `Buffer`'s methods. */
  private put(value: number, at: number): void {
    const { buffer } = this;
    buffer[at] = value >>> 24;
    buffer[at + 1] = value >>> 16;
    buffer[at + 2] = value >>> 8;
    buffer[at + 3] = value;
  }

  private reserve(bytes: number): void {
    if (this.end + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(FIRST_BYTES, this.buffer.length * 2, this.end + bytes));
    this.buffer.copy(larger, 0, 0, this.end);
    this.buffer = larger;
  }
}
