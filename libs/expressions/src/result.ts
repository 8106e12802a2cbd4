import { type CelValue, isCelList, isCelMap, isCelUint } from '@bufbuild/cel';
import { toJson } from '@bufbuild/protobuf';
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { evaluation } from './evaluation.js';
import { asDuration, asTimestamp, originalJson } from './values.js';

const LARGEST_RESULT = 1_048_576;
const DEEPEST = 500;

/** Result of an evaluation and its approximate size as JSON, in bytes. */
export interface Result {
  value: JsonValue;
  size: number;
}

/**
 * Converts a value of an expression to JSON as ProtoJSON does: unsafe integers become texts, bytes become base64,
 * timestamps and durations become texts. Keys of objects are texts.
 * @throws Error if there is no such JSON, or it would be too large
 */
export function resultOf(value: CelValue): Result {
  const writer = new ResultWriter();
  return { value: writer.json(value, 0), size: writer.size };
}

class ResultWriter {
  size = 0;

  json(value: CelValue, depth: number): JsonValue {
    if (depth > DEEPEST) throw new Error(`a result is nested at most ${DEEPEST} deep`);
    if (isCelList(value) || isCelMap(value)) {
      const original = originalJson(value);
      if (original !== undefined) return this.measured(original, depth);
      return isCelList(value)
        ? this.counted(
            Array.from(value, (item) => this.json(item, depth + 1)),
            2,
          )
        : this.object(value.entries(), depth);
    }
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} is no number of JSON`);
    const json = scalar(value);
    return this.counted(json, typeof json === 'string' ? Buffer.byteLength(json) + 2 : 5);
  }

  private object(entries: Iterable<[unknown, CelValue]>, depth: number): JsonObject {
    const members: [string, JsonValue][] = [];
    for (const [key, item] of entries) {
      const name = isCelUint(key) ? String(key.value) : String(key);
      members.push([this.counted(name, Buffer.byteLength(name) + 3), this.json(item, depth + 1)]);
    }
    return this.counted(Object.fromEntries(members), 2);
  }

  /** Counts JSON that is passed through unchanged. */
  private measured(json: JsonValue, depth: number): JsonValue {
    if (depth > DEEPEST) throw new Error(`a result is nested at most ${DEEPEST} deep`);
    if (Array.isArray(json)) for (const item of json) this.measured(item, depth + 1);
    else if (isJsonObject(json)) {
      for (const [name, item] of Object.entries(json)) {
        this.counted(name, Buffer.byteLength(name) + 3);
        this.measured(item, depth + 1);
      }
    }
    return this.counted(json, typeof json === 'string' ? Buffer.byteLength(json) + 2 : 5);
  }

  private counted<T>(value: T, bytes: number): T {
    this.size += bytes;
    if (this.size > LARGEST_RESULT) evaluation().budget.refuse(`its result has more than ${LARGEST_RESULT} bytes`);
    return value;
  }
}

function scalar(value: CelValue): JsonValue {
  if (typeof value !== 'object' && typeof value !== 'bigint') return value;
  if (value === null) return null;
  if (typeof value === 'bigint') return whole(value);
  if (isCelUint(value)) return whole(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  const [timestamp, duration] = [asTimestamp(value), asDuration(value)];
  if (timestamp) return toJson(TimestampSchema, timestamp);
  if (duration) return toJson(DurationSchema, duration);
  throw new Error('a type is no result');
}

function whole(value: bigint): JsonValue {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}
