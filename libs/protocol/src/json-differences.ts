import { textStart } from './brief-text.js';
import { canonicalJson } from './card/canonical-json.js';
import { isJsonObject, type JsonObject, type JsonValue } from './json.js';

/** One difference between two JSON values. */
export interface JsonDifference {
  /** A JSON Pointer (RFC 6901); objects in a list stand in it by their ids, where they have them, else by their places. */
  path: string;
  kind: 'added' | 'removed' | 'changed';
  /** Left out where there was nothing, or where it is long. */
  before?: JsonValue;
  after?: JsonValue;
}

const MAX_VALUE = 500;
const MAX_SEGMENT = 100;

/** What the items of a list are known by, where not by their places. */
const IDS = ['id', 'uri', 'kid'];

/** What is different between two JSON values, member by member. */
export function* jsonDifferences(
  from: JsonValue | undefined,
  to: JsonValue | undefined,
  path = '',
): Generator<JsonDifference> {
  if (from === undefined && to === undefined) return;
  const [before, after] = [membersOf(from), membersOf(to)];
  if (before && after) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      yield* jsonDifferences(before[name], after[name], `${path}/${segment(name)}`);
    }
    return;
  }
  if (from !== undefined && to !== undefined && canonicalJson(from) === canonicalJson(to)) return;
  const kind = from === undefined ? 'added' : to === undefined ? 'removed' : 'changed';
  yield { path, kind, ...shown('before', from), ...shown('after', to) };
}

function shown(name: 'before' | 'after', value: JsonValue | undefined): Partial<JsonDifference> {
  return value === undefined || JSON.stringify(value).length > MAX_VALUE ? {} : { [name]: value };
}

/** What lies below a value: an object's members, a list of objects by their ids or places; other lists are one value. */
function membersOf(value: JsonValue | undefined): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  if (!Array.isArray(value) || !value.every(isJsonObject)) return undefined;
  const id = IDS.find((it) => value.every((item) => typeof item[it] === 'string'));
  const names = value.map((item, place) => (id === undefined ? String(place) : (item[id] as string)));
  const unique = new Set(names).size === names.length;
  return Object.fromEntries(value.map((item, place) => [unique ? names[place] : String(place), item]));
}

function segment(name: string): string {
  const escaped = name.replaceAll('~', '~0').replaceAll('/', '~1');
  return textStart(escaped.replaceAll(/[^\x20-\x7e]/g, '?'), MAX_SEGMENT);
}
