import type { JsonValue } from '../json.js';

/**
 * The canonical text of a JSON value (RFC 8785): members sorted by their names' UTF-16 code units, no spaces, and strings
 * and numbers as ECMAScript writes them.
 */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name]!)}`);
  return `{${members.join(',')}}`;
}
