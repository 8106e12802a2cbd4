import { isJsonObject, type JsonValue } from '#libs/protocol';

/**
 * True if a value contains a wanted one: objects need the wanted members, at any depth; all other values must be equal.
 * Takes at most as many steps as `wanted` has values.
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
