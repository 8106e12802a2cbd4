import type { IncomingMessage } from 'node:http';
import { ANONYMOUS, type Caller } from './caller.js';

/**
 * Key of the caller on the request itself. It is released with the request; a WeakMap would add and collect an entry
 * per request.
 */
const CALLER = Symbol('caller');

interface Identified extends IncomingMessage {
  [CALLER]?: Caller;
}

/** Returns the caller of a request; `ANONYMOUS` without authentication. */
export function callerOf(request: IncomingMessage): Caller {
  return (request as Identified)[CALLER] ?? ANONYMOUS;
}

/** Returns the owner of the Tasks that a request may see, and of those that it creates. */
export function scopeOf(request: IncomingMessage): { tenant: string; owner: string } {
  const { tenant, owner } = callerOf(request);
  return { tenant, owner };
}

/** Sets the caller of a request for all its handlers. */
export function setCaller(request: IncomingMessage, caller: Caller): void {
  (request as Identified)[CALLER] = caller;
}
