import { hash, randomBytes } from 'node:crypto';

/**
 * What is stored and compared of a key. A plain SHA-256 is enough: a key is long and random, so there is no list of
 * likely ones to try, and a slow hash would only slow down every request.
 */
export function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

/** A new key: 192 random bits behind a word by which secret scanners find it. */
export function newKey(): string {
  return `parley_${randomBytes(24).toString('base64url')}`;
}
