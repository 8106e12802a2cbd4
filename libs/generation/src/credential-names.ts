import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** Members that name credentials, in a config or in an agent of it. */
const NAMING: ReadonlySet<string> = new Set(['auth', 'credential_ref']);
/** Members of a config whose entries are agents. */
const LISTS = ['agents', 'tools'];
/** Members of a config whose values may name credentials. */
const INNER: ReadonlySet<string> = new Set([...LISTS, 'llmConfig', 'body']);

/** Returns the members of a value that name credentials. */
export function namesIn(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? pickMembers(value, (key) => NAMING.has(key)) : {};
}

/** True if a value itself names a credential. */
export function hasNames(value: JsonValue | undefined): boolean {
  return Object.keys(namesIn(value)).length > 0;
}

/** True if a value names a credential, at any depth. */
export function hasInnerNames(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return hasNames(value) || Object.values(value).some(hasInnerNames);
}

/** Returns a value without its own members that name credentials. */
export function withoutNames<T extends JsonValue>(value: T): T | JsonObject {
  return isJsonObject(value) ? pickMembers(value, (key) => !NAMING.has(key)) : value;
}

/** Returns a value without the names of credentials, at any depth. */
export function withoutInnerNames(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutInnerNames);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(withoutNames(value)).map(([key, it]) => [key, withoutInnerNames(it)]));
}

/**
 * Returns a config without the names of credentials of the node, of its agents, and of its models. An inner workflow is
 * returned unchanged.
 */
export function withoutCredentials(config: JsonValue): JsonValue {
  if (!isJsonObject(config)) return withoutInnerNames(config);
  const visible = Object.entries(config).flatMap(([key, value]): [string, JsonValue][] => {
    if (NAMING.has(key)) return [];
    if (LISTS.includes(key) && Array.isArray(value)) return [[key, value.map((it) => withoutNames(it))]];
    const isWhole = key === 'body' && isJsonObject(value);
    return [[key, isWhole || !INNER.has(key) ? value : withoutInnerNames(value)]];
  });
  return Object.fromEntries(visible);
}

function pickMembers(value: JsonObject, isPicked: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => isPicked(key)));
}
