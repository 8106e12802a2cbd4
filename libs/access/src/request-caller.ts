import type { IncomingMessage } from 'node:http';
import { ANONYMOUS, type Caller } from './caller.js';

/** On the request itself, and gone with it: a WeakMap would have an entry to add and to collect for every request. */
const CALLER = Symbol('caller');

interface Identified extends IncomingMessage {
  [CALLER]?: Caller;
}

/** Whose request it is; `ANONYMOUS` where nobody was asked who they are. */
export function callerOf(request: IncomingMessage): Caller {
  return (request as Identified)[CALLER] ?? ANONYMOUS;
}

/** Whose Tasks a request may see, and to whom those that it makes belong. */
export function scopeOf(request: IncomingMessage): { tenant: string; owner: string } {
  const { tenant, owner } = callerOf(request);
  return { tenant, owner };
}

/** Says whose request it is, for all who handle it. */
export function identify(request: IncomingMessage, caller: Caller): void {
  (request as Identified)[CALLER] = caller;
}
