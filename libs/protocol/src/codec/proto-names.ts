import { invalidParams } from '../errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';

/** Which members of a message have another name in the schema, and which messages, or lists of them, lie below it. */
export interface ProtoNames {
  readonly members: readonly (readonly [proto: string, json: string])[];
  readonly below: readonly (readonly [name: string, names: ProtoNames])[];
}

/**
 * @param members by their names in JSON, of which those in the schema follow (`task_id`); both where that is not so
 * @param below by their names in JSON
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

/** The name in the schema of a member of JSON: `historyLength` is `history_length`. */
export function protoName(json: string): string {
  return json.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Gives the members of a message the names that they have in JSON, in place: ProtoJSON may also call them what its schema
 * does. What lies in a member that is no message (data, metadata) is left as it is.
 * @throws A2AError INVALID_PARAMS where a member stands there under both names with different values
 */
export function toJsonNames(message: unknown, names: ProtoNames): void {
  const twice = rename(message, names);
  if (twice === undefined) return;
  const description = `is also given as ${twice.proto}, with another value`;
  throw invalidParams({ field: twice.path.replace(/^\./, ''), description });
}

interface Twice {
  path: string;
  proto: string;
}

function rename(value: unknown, names: ProtoNames): Twice | undefined {
  if (Array.isArray(value)) return renameEach(value, names);
  if (!isJsonObject(value)) return undefined;
  for (const [proto, json] of names.members) {
    const given = value[proto];
    if (given === undefined) continue;
    if (differs(given, value[json])) return { path: `.${json}`, proto };
    value[json] ??= given;
    delete value[proto];
  }
  for (const [name, below] of names.below) {
    const twice = rename(value[name], below);
    if (twice) return { path: `.${name}${twice.path}`, proto: twice.proto };
  }
  return undefined;
}

function renameEach(values: readonly unknown[], names: ProtoNames): Twice | undefined {
  for (let index = 0; index < values.length; index++) {
    // No schema has lists of lists.
    const twice = Array.isArray(values[index]) ? undefined : rename(values[index], names);
    if (twice) return { path: `[${index}]${twice.path}`, proto: twice.proto };
  }
  return undefined;
}

/** `null` is how ProtoJSON says that a member is absent. */
function differs(one: JsonValue, other: JsonValue | undefined): boolean {
  return one !== null && other !== undefined && other !== null && !isSame(one, other, DEEPEST);
}

/** No deeper than a request may be; it may not have been looked at yet. */
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
