import { type Loop, loopsAround } from '../graph/loops.js';
import { type InstancePlace, loopKey, nameOf, placeOf } from './instance-name.js';
import type { NodePicture } from './node-picture.js';
import type { RunPicture } from './run-picture.js';

/** Which iteration of a loop is looked at, by `loopKey`; of others the newest. */
export type Shown = ReadonlyMap<string, number>;

export const NEWEST: Shown = new Map();

/** Where a node stands in what is looked at. */
export function shownPlace(picture: RunPicture, node: string, shown: Shown): InstancePlace {
  const path: number[] = [];
  for (const loop of loopsAround(picture.graph.edges, node)) path.push(iterationOf(picture, loop, path, shown));
  return { node, path };
}

/** The instance of a node that is looked at; one that was never reached is pending, or skipped once the run has ended. */
export function shownNode(picture: RunPicture, node: string, shown: Shown): NodePicture | undefined {
  return instanceOf(picture, nameOf(shownPlace(picture, node, shown)));
}

/** An instance by its name; `undefined` for a node that the workflow has not. */
export function instanceOf(picture: RunPicture, name: string): NodePicture | undefined {
  const known = picture.instances.get(name);
  if (known) return known;
  const { node: id, path, index } = placeOf(name);
  const node = picture.nodes.get(id);
  if (!node || (path.length === 0 && index === undefined)) return node;
  const status = picture.finishedAt === undefined ? 'pending' : 'skipped';
  return { id, type: node.type, instance: name, status, attempts: [] };
}

/** The iteration of a loop that is looked at, in one run of the loops around it. */
export function iterationOf(picture: RunPicture, { edge }: Loop, path: readonly number[], shown: Shown): number {
  const key = loopKey(edge, path);
  return shown.get(key) ?? picture.loops.get(key)?.iteration ?? 1;
}

/** The run of a loop that is looked at: its key, how far it is, and which of its iterations is looked at. */
export function shownLoop(picture: RunPicture, loop: Loop, shown: Shown) {
  const { path } = shownPlace(picture, loop.from, shown);
  const around = path.slice(0, loop.depth);
  const key = loopKey(loop.edge, around);
  return { key, run: picture.loops.get(key), iteration: iterationOf(picture, loop, around, shown) };
}

/** What is looked at when an instance is: its iterations, and elsewhere what was looked at before. */
export function shownWith(picture: RunPicture, name: string | undefined, shown: Shown): Shown {
  if (name === undefined) return shown;
  const { node, path } = placeOf(name);
  if (path.length === 0) return shown;
  const next = new Map(shown);
  for (const [depth, loop] of loopsAround(picture.graph.edges, node).entries()) {
    const iteration = path[depth];
    if (iteration !== undefined) next.set(loopKey(loop.edge, path.slice(0, depth)), iteration);
  }
  return next;
}
