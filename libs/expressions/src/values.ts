import {
  type CelList,
  celList,
  type CelMap,
  celMap,
  type CelValue,
  isCelList,
  isCelMap,
  isCelUint,
} from '@bufbuild/cel';
import { isMessage, toJson } from '@bufbuild/protobuf';
import { isReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import {
  type Duration,
  DurationSchema,
  type Timestamp,
  timestampFromDate,
  TimestampSchema,
} from '@bufbuild/protobuf/wkt';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { callMaker, currentEvaluation } from './evaluation.js';

/** Value of a variable. JSON is not copied, so the caller must not change it during an evaluation. */
export type Value = JsonValue | Date | Members;

/** Object whose members are made on demand: each when an expression first reads it. */
export class Members {
  private readonly values = new Map<string, CelValue | undefined>();

  /** @param make makes the value of a member; `undefined` if the member is absent */
  constructor(
    readonly names: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys' | 'size'>,
    private readonly make: (name: string) => Value | undefined,
  ) {}

  get(name: string): CelValue | undefined {
    if (!this.names.has(name)) return undefined;
    if (!this.values.has(name)) this.values.set(name, this.makeValue(name));
    return this.values.get(name);
  }

  private makeValue(name: string): CelValue | undefined {
    const value = callMaker(() => this.make(name));
    return value === undefined ? undefined : toCel(value);
  }
}

/** Converts a value to a CEL value. Numbers become doubles, dates become timestamps. */
export function toCel(value: Value): CelValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return asList(new JsonList(value));
  if (value instanceof Date) return reflect(TimestampSchema, timestampFromDate(value));
  return asMap(new MemberMap(value instanceof Members ? value : new JsonObjectMembers(value)));
}

export function asTimestamp(value: CelValue): Timestamp | undefined {
  return isReflectMessage(value) && isMessage(value.message, TimestampSchema) ? value.message : undefined;
}

export function asDuration(value: CelValue): Duration | undefined {
  return isReflectMessage(value) && isMessage(value.message, DurationSchema) ? value.message : undefined;
}

/** Returns the JSON that a CEL value was made of, or `undefined` if an expression computed the value. */
function originalJson(value: CelList | CelMap): JsonValue | undefined {
  if (value instanceof JsonList) return value.items;
  if (value instanceof MemberMap && value.members instanceof JsonObjectMembers) return value.members.object;
  return undefined;
}

const STEPS_TO_GROW = 10;
/**
 * Steps for each item that is copied. A copy takes less time than that; the number also limits the memory of copies.
 */
const STEPS_TO_KEEP = 4;

/**
 * Concatenates two lists. Copies only `right` if `left` is a result of this function to which nothing was appended yet;
 * otherwise copies both lists.
 */
export function concatenateLists(left: CelList, right: CelList): CelList {
  const { budget } = currentEvaluation();
  budget.chargeSteps(STEPS_TO_GROW + right.size * STEPS_TO_KEEP);
  const grows = left instanceof GrownList && left.size === left.items.length;
  if (!grows) budget.chargeSteps(left.size * STEPS_TO_KEEP);
  const items: CelValue[] = grows ? left.items : [...left];
  for (let index = 0; index < right.size; index++) items.push(right.get(index) ?? null);
  return asList(new GrownList(items, left.size + right.size));
}

abstract class List implements Iterable<CelValue> {
  // A getter, as the lists of the CEL evaluator have a read-only `size`.
  constructor(private readonly length: number) {}

  protected abstract itemAt(index: number): CelValue;

  get size(): number {
    return this.length;
  }

  get(index: number): CelValue | undefined {
    return Number.isInteger(index) && index >= 0 && index < this.size ? this.itemAt(index) : undefined;
  }

  *values(): IterableIterator<CelValue> {
    for (let index = 0; index < this.size; index++) yield this.itemAt(index);
  }

  [Symbol.iterator](): IterableIterator<CelValue> {
    return this.values();
  }
}

class JsonList extends List {
  constructor(readonly items: JsonValue[]) {
    super(items.length);
  }

  protected itemAt(index: number): CelValue {
    return toCel(this.items[index] ?? null);
  }
}

/**
 * List of the first `size` entries of `items`. Longer lists that were made by appending to it share the same `items`.
 */
class GrownList extends List {
  constructor(
    readonly items: CelValue[],
    size: number,
  ) {
    super(size);
  }

  protected itemAt(index: number): CelValue {
    return this.items[index] ?? null;
  }
}

/** Cache of the names of an object's members, for objects whose members an expression has counted or iterated. */
const NAMES = new WeakMap<JsonObject, ReadonlySet<string>>();

class JsonObjectMembers {
  constructor(readonly object: JsonObject) {}

  get names(): ReadonlySet<string> {
    const names = NAMES.get(this.object) ?? new Set(Object.keys(this.object));
    currentEvaluation().budget.chargeSteps(names.size);
    NAMES.set(this.object, names);
    return names;
  }

  get(name: string): CelValue | undefined {
    const value = Object.hasOwn(this.object, name) ? this.object[name] : undefined;
    return value === undefined ? undefined : toCel(value);
  }
}

class MemberMap {
  constructor(readonly members: Members | JsonObjectMembers) {}

  get size(): number {
    return this.members.names.size;
  }

  get(key: unknown): CelValue | undefined {
    return typeof key === 'string' ? this.members.get(key) : undefined;
  }

  has(key: unknown): boolean {
    return this.get(key) !== undefined;
  }

  keys(): Iterator<string> & Iterable<string> {
    return this.members.names.keys();
  }

  *entries(): IterableIterator<[string, CelValue]> {
    for (const key of this.keys()) {
      const value = this.get(key);
      if (value !== undefined) yield [key, value];
    }
  }

  *values(): IterableIterator<CelValue> {
    for (const [, value] of this.entries()) yield value;
  }

  forEach(callback: (value: CelValue, key: string, map: unknown) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this);
  }

  [Symbol.iterator](): IterableIterator<[string, CelValue]> {
    return this.entries();
  }
}

// The CEL evaluator recognizes its lists and maps by a mark, which our classes inherit from one of them. Its own lists
// and maps would convert JSON shallowly at each access, treat a member `constructor` as a class and a null as absent,
// and grow into a chain of lists too deep for any stack.
Object.setPrototypeOf(List.prototype, celList([]));
Object.setPrototypeOf(MemberMap.prototype, celMap(new Map()));

function asList(list: List): CelList {
  return list as unknown as CelList;
}

function asMap(map: MemberMap): CelMap {
  return map as unknown as CelMap;
}

const LARGEST_RESULT = 1_048_576;
const DEEPEST = 500;

/** Result of an evaluation and its approximate size as JSON, in bytes. */
export interface Result {
  value: JsonValue;
  size: number;
}

/**
 * Converts a CEL value to JSON as ProtoJSON does.
 * - Integers beyond 2^53 become strings, bytes become base64, timestamps and durations become strings.
 * - Keys of objects become strings.
 * @throws Error if the value has no JSON form, is nested deeper than 500, or has more than 1,048,576 bytes of JSON
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

  /** Counts the bytes of a JSON value that is part of the result unchanged, and returns the value. */
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
