import { type GraphLoop, loopsAround } from '../graph/loops.js';
import { type InstancePlace, loopKey, formatInstanceName, parseInstanceName } from './instance-name.js';
import type { NodePicture } from './node-picture.js';
import { type RunPicture, UNREAD } from './run-picture.js';

/** Shown iteration of each loop, by `loopKey`. A loop without an entry shows its newest iteration. */
export type Shown = ReadonlyMap<string, number>;

export const NEWEST: Shown = new Map();

/**
 * Returns the parts of the name of a node's shown instance: the node's id and the shown iterations of the loops around
 * it.
 */
export function shownPlace(picture: RunPicture, node: string, shown: Shown): InstancePlace {
  const path: number[] = [];
  for (const loop of loopsAround(picture.graph.edges, node)) path.push(iterationOf(picture, loop, path, shown));
  return { node, path };
}

/**
 * Returns the shown instance of a node. An instance that the run has not reached is pending, or skipped once the run
 * has ended.
 */
export function shownNode(picture: RunPicture, node: string, shown: Shown): NodePicture | undefined {
  return instanceOf(picture, formatInstanceName(shownPlace(picture, node, shown)));
}

/** Returns an instance by its name; `undefined` if the workflow has no such node. */
export function instanceOf(picture: RunPicture, name: string): NodePicture | undefined {
  const known = picture.instances.get(name);
  if (known) return known;
  const { node: id, path, index } = parseInstanceName(name);
  const node = picture.nodes.get(id);
  if (!node || (path.length === 0 && index === undefined)) return node;
  const status = picture.status === UNREAD ? UNREAD : picture.finishedAt === undefined ? 'pending' : 'skipped';
  return { id, type: node.type, instance: name, status, attempts: [] };
}

/** Returns the shown iteration of a loop, within the given iterations (`path`) of the loops around it. */
function iterationOf(picture: RunPicture, { edge }: GraphLoop, path: readonly number[], shown: Shown): number {
  const key = loopKey(edge, path);
  return shown.get(key) ?? picture.loops.get(key)?.iteration ?? 1;
}

/** Returns the shown state of a loop: its key, its picture, and its shown iteration. */
export function shownLoop(picture: RunPicture, loop: GraphLoop, shown: Shown) {
  const { path } = shownPlace(picture, loop.from, shown);
  const around = path.slice(0, loop.depth);
  const key = loopKey(loop.edge, around);
  return { key, run: picture.loops.get(key), iteration: iterationOf(picture, loop, around, shown) };
}

/**
 * Returns the shown iterations after a node's instance was selected. Each loop around the instance shows the instance's
 * iteration; all other loops show the same iteration as before.
 * @param name name of the selected instance; `undefined` if none is selected
 */
export function shownWith(picture: RunPicture, name: string | undefined, shown: Shown): Shown {
  if (name === undefined) return shown;
  const { node, path } = parseInstanceName(name);
  if (path.length === 0) return shown;
  const next = new Map(shown);
  for (const [depth, loop] of loopsAround(picture.graph.edges, node).entries()) {
    const iteration = path[depth];
    if (iteration !== undefined) next.set(loopKey(loop.edge, path.slice(0, depth)), iteration);
  }
  return next;
}
