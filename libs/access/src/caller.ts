import type { IncomingMessage } from 'node:http';

/** Permissions of a caller: to call agents and read their results, to change workflows, and to manage keys. */
export const PERMISSIONS = ['agents', 'workflows', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Key or token that a caller's access depends on while a stream is open. */
export interface Proof {
  /** Digest of the key. */
  readonly key?: string;
  /** Expiry of the token in Unix milliseconds. */
  readonly endsAt?: number;
}

/** Sender of a request. What the caller creates belongs to `owner`, within `tenant`. */
export interface Caller {
  readonly tenant: string;
  readonly owner: string;
  readonly permissions: ReadonlySet<Permission>;
  /** Key or token that may be revoked or expire; absent for access without such a credential. */
  readonly proof?: Proof;
}

/** Caller of every request without authentication. */
export const ANONYMOUS: Caller = { tenant: '', owner: '', permissions: new Set(PERMISSIONS) };

export function isPermission(name: unknown): name is Permission {
  return PERMISSIONS.includes(name as Permission);
}

/**
 * Key of the caller on the request object. The caller is released with the request; a WeakMap would add and collect an
 * entry per request.
 */
const CALLER = Symbol('caller');

interface Identified extends IncomingMessage {
  [CALLER]?: Caller;
}

/** Returns the caller of a request; `ANONYMOUS` without authentication. */
export function callerOf(request: IncomingMessage): Caller {
  return (request as Identified)[CALLER] ?? ANONYMOUS;
}

/** Returns the scope of a request: the tenant and owner of the Tasks that the request may see or create. */
export function scopeOf(request: IncomingMessage): { tenant: string; owner: string } {
  const { tenant, owner } = callerOf(request);
  return { tenant, owner };
}

/** Sets the caller of a request for all its handlers. */
export function setCaller(request: IncomingMessage, caller: Caller): void {
  (request as Identified)[CALLER] = caller;
}
