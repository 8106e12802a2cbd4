/** How deep a caller's JSON may be nested; what is deeper breaks writers that recurse. */
export const MAX_DEPTH = 100;

/** Whether a JSON value is nested deeper than allowed. Uses no stack of its own. */
export function isTooDeep(value: unknown, limit = MAX_DEPTH): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((it) => (typeof it === 'object' && it !== null ? Object.values(it) : []));
  }
  return false;
}
