import { textStart } from '#libs/protocol';
import { malformedRequest, type ProblemError } from '../problems/problem.js';

/** Maximum depth of the search. */
const MAX_DEPTH = 100;
const LONGEST_PATH = 200;
const REFUSED = 'is a name that no member may have: JavaScript takes it for the prototype of an object';

/**
 * Returns the error for a JSON body that Fastify rejects because of a member name (`__proto__`, or `prototype` in
 * `constructor`); `undefined` if no such name is the reason.
 */
export function refusedName(text: string): ProblemError | undefined {
  const path = pathIn(text);
  return path === undefined ? undefined : malformedRequest({ path: textStart(path, LONGEST_PATH), detail: REFUSED });
}

function pathIn(text: string): string | undefined {
  let level: [path: string, value: unknown][];
  try {
    level = [['', JSON.parse(text)]];
  } catch {
    return undefined;
  }
  for (let depth = 0; level.length > 0 && depth <= MAX_DEPTH; depth += 1) {
    for (const [path, value] of level) {
      const name = nameIn(value);
      if (name !== undefined) return path === '' ? name : `${path}.${name}`;
    }
    level = level.flatMap(([path, value]) => entriesOf(path, value));
  }
  return undefined;
}

function nameIn(value: unknown): string | undefined {
  if (!isAnyObject(value)) return undefined;
  if (Object.hasOwn(value, '__proto__')) return '__proto__';
  const inner = Object.hasOwn(value, 'constructor') ? value['constructor'] : undefined;
  return isAnyObject(inner) && Object.hasOwn(inner, 'prototype') ? 'constructor.prototype' : undefined;
}

function entriesOf(path: string, value: unknown): [string, unknown][] {
  if (Array.isArray(value)) return value.map((entry, index) => [`${path}[${index}]`, entry]);
  if (!isAnyObject(value)) return [];
  return Object.entries(value).map(([name, it]) => [path === '' ? name : `${path}.${name}`, it]);
}

function isAnyObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
