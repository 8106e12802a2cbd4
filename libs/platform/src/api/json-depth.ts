import { malformed } from './problem.js';

/** How deep a caller's JSON may be nested; what is deeper breaks writers that recurse. */
const MAX_DEPTH = 100;

/**
 * Uses no stack of its own.
 * @throws ProblemError 400 for a body that is nested too deep
 */
export function refuseTooDeep(body: unknown): void {
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw malformed({ path: '', detail: `the body is nested deeper than ${MAX_DEPTH} levels` });
    level = level.flatMap((it) => (typeof it === 'object' && it !== null ? Object.values(it) : []));
  }
}
