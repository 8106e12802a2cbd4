import { hash } from 'node:crypto';
import type { JsonValue } from './json.js';

/**
 * Derives an id from values: equal values give the same id in any process, so a repetition can be told from something
 * new. Shaped as a UUID of version 8 (RFC 9562).
 */
export function derivedId(...values: JsonValue[]): string {
  const hex = hash('sha256', JSON.stringify(values), 'hex');
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(18, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
