/** Difference between two JSON values. */
export interface Difference {
  /** Path, for example `nodes[1].config.prompt`. */
  path: string;
  /** Value before; absent if it was added. */
  before?: unknown;
  /** Value after; absent if it was removed. */
  after?: unknown;
}

/** Returns the differences of two values. Nodes and edges are compared by position, objects by member. */
export function differences(before: unknown, after: unknown, path = ''): Difference[] {
  if (Object.is(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) => differences(before[index], after[index], `${path}[${index}]`)).flat();
  }
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => differences(before[name], after[name], path === '' ? name : `${path}.${name}`));
  }
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
