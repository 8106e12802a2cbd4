import { type CelValue, isCelList, isCelMap, isCelUint } from '@bufbuild/cel';
import { toJson } from '@bufbuild/protobuf';
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { currentEvaluation } from './evaluation.js';
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
export function toJsonResult(value: CelValue): Result {
  const writer = new ResultWriter();
  return { value: writer.writeValue(value, 0), size: writer.size };
}

class ResultWriter {
  size = 0;

  writeValue(value: CelValue, depth: number): JsonValue {
    if (depth > DEEPEST) throw new Error(`a result is nested at most ${DEEPEST} deep`);
    if (isCelList(value) || isCelMap(value)) {
      const original = originalJson(value);
      if (original !== undefined) return this.measureJson(original, depth);
      return isCelList(value)
        ? this.countBytes(
            Array.from(value, (item) => this.writeValue(item, depth + 1)),
            2,
          )
        : this.writeObject(value.entries(), depth);
    }
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} is no number of JSON`);
    const json = toJsonScalar(value);
    return this.countBytes(json, typeof json === 'string' ? Buffer.byteLength(json) + 2 : 5);
  }

  private writeObject(entries: Iterable<[unknown, CelValue]>, depth: number): JsonObject {
    const members: [string, JsonValue][] = [];
    for (const [key, item] of entries) {
      const name = isCelUint(key) ? String(key.value) : String(key);
      members.push([this.countBytes(name, Buffer.byteLength(name) + 3), this.writeValue(item, depth + 1)]);
    }
    return this.countBytes(Object.fromEntries(members), 2);
  }

  /** Counts JSON that is passed through unchanged. */
  private measureJson(json: JsonValue, depth: number): JsonValue {
    if (depth > DEEPEST) throw new Error(`a result is nested at most ${DEEPEST} deep`);
    if (Array.isArray(json)) for (const item of json) this.measureJson(item, depth + 1);
    else if (isJsonObject(json)) {
      for (const [name, item] of Object.entries(json)) {
        this.countBytes(name, Buffer.byteLength(name) + 3);
        this.measureJson(item, depth + 1);
      }
    }
    return this.countBytes(json, typeof json === 'string' ? Buffer.byteLength(json) + 2 : 5);
  }

  private countBytes<T>(value: T, bytes: number): T {
    this.size += bytes;
    if (this.size > LARGEST_RESULT)
      currentEvaluation().budget.refuseEvaluation(`its result has more than ${LARGEST_RESULT} bytes`);
    return value;
  }
}

function toJsonScalar(value: CelValue): JsonValue {
  if (typeof value !== 'object' && typeof value !== 'bigint') return value;
  if (value === null) return null;
  if (typeof value === 'bigint') return toJsonInteger(value);
  if (isCelUint(value)) return toJsonInteger(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  const [timestamp, duration] = [asTimestamp(value), asDuration(value)];
  if (timestamp) return toJson(TimestampSchema, timestamp);
  if (duration) return toJson(DurationSchema, duration);
  throw new Error('a type is no result');
}

function toJsonInteger(value: bigint): JsonValue {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}
