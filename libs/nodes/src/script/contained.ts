import { isJsonObject, type JsonValue } from '#libs/protocol';

/**
 * Whether a value has everything that a wanted one has: of an object the members that are wanted, at any depth; all else
 * is equal. Takes no more steps than the wanted one has values.
 */
export function isContained(wanted: JsonValue, value: JsonValue | undefined): boolean {
  if (isJsonObject(wanted)) {
    if (!isJsonObject(value)) return false;
    for (const name in wanted) {
      if (!Object.hasOwn(value, name) || !isContained(wanted[name]!, value[name])) return false;
    }
    return true;
  }
  if (!Array.isArray(wanted)) return wanted === value;
  if (!Array.isArray(value) || value.length !== wanted.length) return false;
  return wanted.every((it, index) => isContained(it, value[index]));
}
