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
export function findDifferences(before: unknown, after: unknown, path = ''): Difference[] {
  if (Object.is(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) =>
      findDifferences(before[index], after[index], `${path}[${index}]`),
    ).flat();
  }
  if (isRecord(before) && isRecord(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) =>
      findDifferences(before[name], after[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
