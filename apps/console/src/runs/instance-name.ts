/** Which of a node's instances something is about: `draft@2`, `tr[17]`, `x@2@1[17]`; a node that runs once has but its id. */
export interface InstancePlace {
  node: string;
  /** The iterations of the loops around it, outermost first; they count from 1. */
  path: readonly number[];
  /** Its place in the list that the node goes through, from 0. */
  index?: number;
}

const NAME = /^([^@[]+)((?:@\d+)*)(?:\[(\d+)\])?$/;

export function placeOf(name: string): InstancePlace {
  const [, node = name, path = '', index] = NAME.exec(name) ?? [];
  return {
    node,
    path: path.split('@').slice(1).map(Number),
    ...(index !== undefined && { index: Number(index) }),
  };
}

export function nameOf({ node, path, index }: InstancePlace): string {
  const scope = path.map((iteration) => `@${iteration}`).join('');
  return `${node}${scope}${index === undefined ? '' : `[${index}]`}`;
}

/** Whether one path of iterations is later than another, or the same. */
export function isNotBefore(path: readonly number[], other: readonly number[]): boolean {
  const at = path.findIndex((iteration, depth) => iteration !== other[depth]);
  return at < 0 || (path[at] ?? 0) > (other[at] ?? 0);
}

/** Which run of a loop: the place of its edge, and the iterations of the loops around it. */
export function loopKey(edge: number, path: readonly number[]): string {
  return [edge, ...path].join('@');
}
