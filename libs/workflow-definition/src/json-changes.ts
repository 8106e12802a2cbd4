import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** Difference of one member of two JSON values. */
export interface FieldChange {
  /** Path of the member, such as `config.tools[2]` or `config.body.nodes[draft].type`; empty for the whole value. */
  path: string;
  /** Value before; absent if the member is new. */
  before?: JsonValue;
  /** Value after; absent if the member was removed. */
  after?: JsonValue;
}

/** Maximum number of differences that one comparison reports. */
export const MOST_CHANGES = 1_000;
/** Minimum nesting depth at which values are compared as a whole and not member by member. */
const DEEPEST = 8;
/**
 * Maximum length of a member's path in characters. Below a longer path, values are compared as a whole and not member
 * by member.
 */
const LONGEST_PATH = 512;

type MembersByPath = ReadonlyMap<string, JsonValue>;

/** Collects the differences of JSON values, up to `MOST_CHANGES`. */
export class ChangeCollector {
  private count = 0;

  /** True if there are more differences than are reported. */
  truncated = false;

  /** @param isUnordered returns true for the path of a list in which a different order is not a difference */
  constructor(private readonly isUnordered: (path: string) => boolean = () => false) {}

  /**
   * Counts one difference and returns true. If `MOST_CHANGES` are already counted, sets `truncated` and returns false.
   */
  admitChange(): boolean {
    if (this.count < MOST_CHANGES) this.count += 1;
    else this.truncated = true;
    return !this.truncated;
  }

  /**
   * Returns the differences of two values in the order of the members: first the members of the value before, then new
   * members.
   */
  listChanges(before: JsonValue | undefined, after: JsonValue | undefined): FieldChange[] {
    return [...this.compareValues('', before, after, 0)];
  }

  private *compareValues(
    path: string,
    before: JsonValue | undefined,
    after: JsonValue | undefined,
    depth: number,
  ): Generator<FieldChange> {
    if (this.truncated || isDeepStrictEqual(before, after)) return;
    const isDeep = depth >= DEEPEST || path.length >= LONGEST_PATH;
    const members = isDeep ? undefined : pairMembers(before, after, this.isUnordered(path));
    if (members === undefined) {
      if (!this.admitChange()) return;
      yield { path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
      return;
    }
    for (const key of new Set([...members.before.keys(), ...members.after.keys()])) {
      const inner = key.startsWith('[') || path === '' ? `${path}${key}` : `${path}.${key}`;
      yield* this.compareValues(inner, members.before.get(key), members.after.get(key), depth + 1);
    }
  }
}

/**
 * Pairs the members of two objects, or the entries of two lists, by path segment (`name`, `[id]`, `[0]`). Returns
 * `undefined` if the caller must compare the values as a whole: for any other values, for lists in which entries with
 * the same ids are in a different order, and for lists without ids that have different lengths.
 */
function pairMembers(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  isUnordered: boolean,
): { before: MembersByPath; after: MembersByPath } | undefined {
  if (isJsonObject(before) && isJsonObject(after))
    return { before: objectMembers(before), after: objectMembers(after) };
  if (!Array.isArray(before) || !Array.isArray(after)) return undefined;
  const byId = { before: membersById(before), after: membersById(after) };
  if (byId.before && byId.after) {
    const isReordered = !isUnordered && !haveSameOrder(byId.before, byId.after);
    return isReordered ? undefined : { before: byId.before, after: byId.after };
  }
  if (before.length !== after.length) return undefined;
  return { before: membersByIndex(before), after: membersByIndex(after) };
}

/** True if the members that both values have are in the same order. */
function haveSameOrder(before: MembersByPath, after: MembersByPath): boolean {
  const kept = Array.from(after.keys()).filter((key) => before.has(key));
  return isDeepStrictEqual(
    Array.from(before.keys()).filter((key) => after.has(key)),
    kept,
  );
}

function objectMembers(value: JsonObject): MembersByPath {
  return new Map(Object.entries(value).map(([key, member]) => [SIMPLE_KEY.test(key) ? key : quoteKey(key), member]));
}

const SIMPLE_KEY = /^[\w$-]{1,100}$/;

function quoteKey(key: string): string {
  return `[${JSON.stringify(key)}]`;
}

/** Returns the entries of a list by their `id`; `undefined` unless each entry has a unique one. */
function membersById(entries: readonly JsonValue[]): MembersByPath | undefined {
  const members = new Map<string, JsonValue>();
  for (const entry of entries) {
    const id = isJsonObject(entry) ? entry['id'] : undefined;
    if (typeof id !== 'string' || members.has(`[${id}]`)) return undefined;
    members.set(`[${id}]`, entry);
  }
  return members;
}

function membersByIndex(entries: readonly JsonValue[]): MembersByPath {
  return new Map(entries.map((entry, index) => [`[${index}]`, entry]));
}
