import { isJsonObject, type JsonValue } from '#libs/protocol';

/** A copy with `{{text}}` replaced in every string, at any depth. What is put in is not read again (row D9). */
export function withText<T extends JsonValue>(value: T, text: string): T {
  return replaced(value, text) as T;
}

function replaced(value: JsonValue, text: string): JsonValue {
  if (typeof value === 'string') return value.replaceAll('{{text}}', () => text);
  if (Array.isArray(value)) return value.map((item) => replaced(item, text));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, text)]));
}
