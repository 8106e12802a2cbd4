/** Parts of an instance's name: `draft@2`, `tr[17]`, `x@2@1[17]`. A node that runs once is named by its id alone. */
export interface InstancePlace {
  node: string;
  /** Iterations of the loops around the node, outermost first, from 1. */
  path: readonly number[];
  /** Index of the entry in the node's list, from 0; absent if the instance is no entry. */
  index?: number;
}

const NAME = /^([^@[]+)((?:@\d+)*)(?:\[(\d+)\])?$/;

export function parseInstanceName(name: string): InstancePlace {
  const [, node = name, path = '', index] = NAME.exec(name) ?? [];
  return {
    node,
    path: path.split('@').slice(1).map(Number),
    ...(index !== undefined && { index: Number(index) }),
  };
}

export function formatInstanceName({ node, path, index }: InstancePlace): string {
  const scope = path.map((iteration) => `@${iteration}`).join('');
  return `${node}${scope}${index === undefined ? '' : `[${index}]`}`;
}

/** True if a path of iterations equals another path, or is later. */
export function isNotBefore(path: readonly number[], other: readonly number[]): boolean {
  const at = path.findIndex((iteration, depth) => iteration !== other[depth]);
  return at < 0 || (path[at] ?? 0) > (other[at] ?? 0);
}

/**
 * Returns the key of one execution of a loop, such as `3@2@1`: the index of the loop's edge, and the iterations of the
 * loops around it.
 */
export function loopKey(edge: number, path: readonly number[]): string {
  return [edge, ...path].join('@');
}
