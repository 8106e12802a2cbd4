import { hash, randomBytes } from 'node:crypto';

/**
 * Returns the digest by which a key is stored and compared. A plain SHA-256 is enough: keys are long and random, so
 * guessing is infeasible, and a slow hash would only delay every request.
 */
export function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

/** Creates a key: 192 random bits, with a prefix that secret scanners recognize. */
export function newKey(): string {
  return `parley_${randomBytes(24).toString('base64url')}`;
}
