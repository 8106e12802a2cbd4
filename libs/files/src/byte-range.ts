import type { ByteRange } from './file-storage.js';

/** Single range; a client that requests several gets the whole content (RFC 9110, section 14.2 permits it). */
const RANGE = /^\s*bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i;

/**
 * Returns the part of a content that a `Range` requests (RFC 9110, section 14.1.2): `undefined` for the whole content,
 * `unsatisfiable` if the part is empty.
 * @param size bytes of the content
 */
export function requestedRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = RANGE.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '')
    return Number(to) === 0 || size === 0 ? 'unsatisfiable' : { first: Math.max(size - Number(to), 0), last: size - 1 };
  const first = Number(from);
  if (to !== '' && Number(to) < first) return undefined;
  if (first >= size) return 'unsatisfiable';
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}

/**
 * True if a list of entity tags (`If-None-Match`) contains the given one, compared weakly (RFC 9110, section 8.8.3.2).
 */
export function hasEntityTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((it) => it.trim() === '*' || it.trim().replace(/^W\//, '') === tag);
}
