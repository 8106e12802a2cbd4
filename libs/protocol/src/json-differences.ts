import { textStart } from './brief-text.js';
import { canonicalJson } from './card/canonical-json.js';
import { isJsonObject, type JsonObject, type JsonValue } from './json.js';

/** Difference between two JSON values. */
export interface JsonDifference {
  /** JSON Pointer (RFC 6901); it names objects in a list by their ids if they have unique ones, else by index. */
  path: string;
  kind: 'added' | 'removed' | 'changed';
  /** Value before the change; absent if there was none or it is long. */
  before?: JsonValue;
  after?: JsonValue;
}

const MAX_VALUE = 500;
const MAX_SEGMENT = 100;

/** Members that may identify the items of a list. */
const IDS = ['id', 'uri', 'kid'];

/** Yields the differences between two JSON values, member by member. */
export function* jsonDifferences(
  from: JsonValue | undefined,
  to: JsonValue | undefined,
  path = '',
): Generator<JsonDifference> {
  if (from === undefined && to === undefined) return;
  const [before, after] = [membersOf(from), membersOf(to)];
  if (before && after) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      yield* jsonDifferences(before[name], after[name], `${path}/${pointerSegment(name)}`);
    }
    return;
  }
  if (from !== undefined && to !== undefined && canonicalJson(from) === canonicalJson(to)) return;
  const kind = from === undefined ? 'added' : to === undefined ? 'removed' : 'changed';
  yield { path, kind, ...shownValue('before', from), ...shownValue('after', to) };
}

function shownValue(name: 'before' | 'after', value: JsonValue | undefined): Partial<JsonDifference> {
  return value === undefined || JSON.stringify(value).length > MAX_VALUE ? {} : { [name]: value };
}

/**
 * Returns the members of an object, or the items of a list of objects by id or index; `undefined` for any other value.
 */
function membersOf(value: JsonValue | undefined): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  if (!Array.isArray(value) || !value.every(isJsonObject)) return undefined;
  const id = IDS.find((it) => value.every((item) => typeof item[it] === 'string'));
  const names = value.map((item, place) => (id === undefined ? String(place) : (item[id] as string)));
  const unique = new Set(names).size === names.length;
  return Object.fromEntries(value.map((item, place) => [unique ? names[place] : String(place), item]));
}

function pointerSegment(name: string): string {
  const escaped = name.replaceAll('~', '~0').replaceAll('/', '~1');
  return textStart(escaped.replaceAll(/[^\x20-\x7e]/g, '?'), MAX_SEGMENT);
}
