/** Object ids of the element types that arrays are sent of (pg_type.dat); they never change. */
const OIDS = { boolean: 16, integer: 23, text: 25, json: 114, timestamp: 1184 } as const;

const HEADER_BYTES = 20;
/** PostgreSQL counts time in microseconds from 2000-01-01. */
const EPOCH_OFFSET_MS = 946_684_800_000;
const TWO_TO_32 = 2 ** 32;
const NULL_LENGTH = -1;
const LONG = 16 * 1024;
const FIRST_BYTES = 1024;
const NOTHING = Buffer.alloc(0);

/**
 * A column of a batch as PostgreSQL's binary form of a one-dimensional array, which neither side has to escape or
 * parse. The element type is that of the values added; a null has any.
 */
export class BinaryArray {
  /** None until something is added: a batch has columns that it needs not. */
  private buffer: Buffer = NOTHING;
  private end = HEADER_BYTES;
  private count = 0;
  private hasNull = false;

  constructor(private readonly type: keyof typeof OIDS) {}

  /** Of a text or json column. */
  text(value: string): void {
    // UTF-8 takes at most three bytes for each UTF-16 code unit; a long text is worth to be measured.
    this.reserve(4 + (value.length > LONG ? Buffer.byteLength(value) : value.length * 3));
    const length = this.buffer.write(value, this.end + 4, 'utf8');
    this.buffer.writeInt32BE(length, this.end);
    this.end += 4 + length;
    this.count += 1;
  }

  integer(value: number): void {
    this.reserve(8);
    this.buffer.writeInt32BE(4, this.end);
    this.buffer.writeInt32BE(value, this.end + 4);
    this.end += 8;
    this.count += 1;
  }

  boolean(value: boolean): void {
    this.reserve(5);
    this.buffer.writeInt32BE(1, this.end);
    this.buffer[this.end + 4] = value ? 1 : 0;
    this.end += 5;
    this.count += 1;
  }

  /** To the millisecond. */
  timestamp(value: Date): void {
    this.reserve(12);
    this.buffer.writeInt32BE(8, this.end);
    const ms = value.getTime() - EPOCH_OFFSET_MS;
    // In two halves, which numbers hold exactly and write faster than a BigInt.
    const high = Math.floor(ms / TWO_TO_32);
    const low = (ms - high * TWO_TO_32) * 1000;
    this.buffer.writeInt32BE(high * 1000 + Math.floor(low / TWO_TO_32), this.end + 4);
    this.buffer.writeUInt32BE(low % TWO_TO_32, this.end + 8);
    this.end += 12;
    this.count += 1;
  }

  /** Of the column's type; nothing is a null. */
  add(value: string | number | Date | undefined): void {
    if (value === undefined) this.null();
    else if (typeof value === 'string') this.text(value);
    else if (typeof value === 'number') this.integer(value);
    else this.timestamp(value);
  }

  null(): void {
    this.reserve(4);
    this.buffer.writeInt32BE(NULL_LENGTH, this.end);
    this.end += 4;
    this.count += 1;
    this.hasNull = true;
  }

  optional(value: string | undefined): void {
    if (value === undefined) this.null();
    else this.text(value);
  }

  /** The array as a statement's parameter. Nothing may be added afterwards. */
  toBuffer(): Buffer {
    this.reserve(0);
    const { buffer } = this;
    const dimensions = this.count === 0 ? 0 : 1;
    buffer.writeInt32BE(dimensions, 0);
    buffer.writeInt32BE(this.hasNull ? 1 : 0, 4);
    buffer.writeInt32BE(OIDS[this.type], 8);
    if (dimensions === 0) return buffer.subarray(0, 12);
    buffer.writeInt32BE(this.count, 12);
    buffer.writeInt32BE(1, 16);
    return buffer.subarray(0, this.end);
  }

  private reserve(bytes: number): void {
    if (this.end + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(FIRST_BYTES, this.buffer.length * 2, this.end + bytes));
    this.buffer.copy(larger, 0, 0, this.end);
    this.buffer = larger;
  }
}
