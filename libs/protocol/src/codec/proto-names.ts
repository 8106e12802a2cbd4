import { invalidParams } from '../errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';

/**
 * Names of the members of a protobuf message. `members` has the members whose schema names differ from their JSON
 * names, `below` the members that are messages or lists of messages.
 */
export interface ProtoNames {
  readonly members: readonly (readonly [proto: string, json: string])[];
  readonly below: readonly (readonly [name: string, names: ProtoNames])[];
}

/**
 * Creates the ProtoNames of a message.
 * @param members JSON names, from which the schema names are derived (`task_id`), or pairs of schema name and JSON name
 * @param below names of the members that are messages, by JSON name
 */
export function protoNames(
  members: readonly (string | readonly [proto: string, json: string])[],
  below: Readonly<Record<string, ProtoNames>> = {},
): ProtoNames {
  return {
    members: members.map((it) => (typeof it === 'string' ? ([protoName(it), it] as const) : it)),
    below: Object.entries(below),
  };
}

/** Returns the schema name of a JSON member: `historyLength` becomes `history_length`. */
export function protoName(json: string): string {
  return json.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Renames the members of a message from schema names, which ProtoJSON also allows, to JSON names, in place. Free-form
 * members (data, metadata) are left unchanged.
 * @throws A2AError INVALID_PARAMS if a member is present under both names with different values
 */
export function toJsonNames(message: unknown, names: ProtoNames): void {
  const twice = renameMembers(message, names);
  if (twice === undefined) return;
  const description = `is also given as ${twice.proto}, with another value`;
  throw invalidParams({ field: twice.path.replace(/^\./, ''), description });
}

interface Twice {
  path: string;
  proto: string;
}

function renameMembers(value: unknown, names: ProtoNames): Twice | undefined {
  if (Array.isArray(value)) return renameEach(value, names);
  if (!isJsonObject(value)) return undefined;
  for (const [proto, json] of names.members) {
    const given = value[proto];
    if (given === undefined) continue;
    if (hasOtherValue(given, value[json])) return { path: `.${json}`, proto };
    value[json] ??= given;
    delete value[proto];
  }
  for (const [name, below] of names.below) {
    const twice = renameMembers(value[name], below);
    if (twice) return { path: `.${name}${twice.path}`, proto: twice.proto };
  }
  return undefined;
}

function renameEach(values: readonly unknown[], names: ProtoNames): Twice | undefined {
  for (let index = 0; index < values.length; index++) {
    // No schema has lists of lists.
    const twice = Array.isArray(values[index]) ? undefined : renameMembers(values[index], names);
    if (twice) return { path: `[${index}]${twice.path}`, proto: twice.proto };
  }
  return undefined;
}

/**
 * True if both values are set and differ. An absent member counts as not set, and so does `null`, since ProtoJSON
 * writes absent members as `null`.
 */
function hasOtherValue(one: JsonValue, other: JsonValue | undefined): boolean {
  return one !== null && other !== undefined && other !== null && !isSame(one, other, DEEPEST);
}

/**
 * Maximum depth of the comparison. It equals the maximum depth of requests; the request at hand may not have been
 * checked against that maximum yet.
 */
const DEEPEST = 100;

function isSame(one: JsonValue | undefined, other: JsonValue | undefined, depthLeft: number): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || depthLeft === 0) return false;
  if (one === null || other === null || Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  const [left, right] = [one as JsonObject, other as JsonObject];
  return names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name], depthLeft - 1));
}
