import { type DefinitionEdge, type LoopSettings, NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';

/** A loop's edge and the nodes that it repeats. */
export interface GraphLoop {
  /** Index of the loop's edge in the definition. */
  edge: number;
  from: string;
  to: string;
  settings: LoopSettings;
  body: ReadonlySet<string>;
  /** Number of loops that contain this loop; 0 for an outermost loop. */
  depth: number;
  /** Number of levels of loops nested in this loop; 0 for an innermost loop. */
  height: number;
}

type Ends = Pick<DefinitionEdge, 'from' | 'to' | 'loop'>;

const found = new WeakMap<readonly Ends[], readonly GraphLoop[]>();

/**
 * Returns the loops of a graph, outer loops first. The body of a loop has the nodes on all paths from the target of its
 * edge to the source of its edge.
 */
export function loopsOf(edges: readonly Ends[]): readonly GraphLoop[] {
  const known = found.get(edges);
  if (known) return known;
  const loops = edges.flatMap(({ from, to, loop }, edge) => (loop ? [{ edge, from, to, settings: loop }] : []));
  const bodies = loops.map((loop) => ({ ...loop, body: findLoopBody(edges, loop) }));
  const nested = bodies.map((loop) => {
    const around = bodies.filter((it) => it !== loop && isInside(loop, it));
    return { ...loop, depth: around.length, height: heightOf(loop, bodies) };
  });
  const sorted = nested.toSorted((a, b) => a.depth - b.depth);
  found.set(edges, sorted);
  return sorted;
}

/** Returns the loops around a node, outermost first. */
export function loopsAround(edges: readonly Ends[], node: string): GraphLoop[] {
  return loopsOf(edges).filter(({ body }) => body.has(node));
}

/** True if edges lead from one node to another, or both nodes are the same. Edges of loops do not count. */
export function isReachable(edges: readonly Ends[], from: string, to: string): boolean {
  return collectReachable(edges, from, 'from', 'to').has(to);
}

/** Pixels between the nodes of a loop's body and its frame. */
const PADDING = { side: 28, top: 44, bottom: 46 };
/** Margin of a loop's frame around the frame inside it, in pixels. */
const STEP = 34;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Returns the frame around a loop's body; `undefined` if none of its nodes has a position. */
export function frameOf({ body, height }: GraphLoop, places: ReadonlyMap<string, Position>): Box | undefined {
  const at = [...body].flatMap((id) => places.get(id) ?? []);
  if (at.length === 0) return undefined;
  const more = height * STEP;
  const left = Math.min(...at.map(({ x }) => x)) - PADDING.side - more;
  const top = Math.min(...at.map(({ y }) => y)) - PADDING.top - more;
  const right = Math.max(...at.map(({ x }) => x)) + NODE_WIDTH + PADDING.side + more;
  const bottom = Math.max(...at.map(({ y }) => y)) + NODE_HEIGHT + PADDING.bottom + more;
  return { x: left, y: top, width: right - left, height: bottom - top };
}

function findLoopBody(edges: readonly Ends[], { from, to }: Ends): ReadonlySet<string> {
  const after = collectReachable(edges, to, 'from', 'to');
  const before = collectReachable(edges, from, 'to', 'from');
  const between = [...after].filter((id) => before.has(id));
  return new Set(between.length > 0 ? between : [to, from]);
}

/**
 * Returns a node and all nodes that can be reached from it. Edges of loops do not count.
 * @param near end of the edges that are followed from a node: `from` finds the nodes after `start`, `to` the nodes
 * before it
 * @param far other end of the edges
 */
export function collectReachable(
  edges: readonly Ends[],
  start: string,
  near: 'from' | 'to',
  far: 'from' | 'to',
): Set<string> {
  const next = Map.groupBy(
    edges.filter(({ loop }) => loop === undefined),
    (edge) => edge[near],
  );
  const seen = new Set([start]);
  for (const at of seen) for (const edge of next.get(at) ?? []) seen.add(edge[far]);
  return seen;
}

/** True if a loop lies inside another. Of two loops with the same body, the later one is the inner one. */
function isInside(inner: { body: ReadonlySet<string>; edge: number }, outer: typeof inner): boolean {
  if (![...inner.body].every((id) => outer.body.has(id))) return false;
  return inner.body.size < outer.body.size || inner.edge > outer.edge;
}

function heightOf(
  loop: { body: ReadonlySet<string>; edge: number },
  all: readonly { body: ReadonlySet<string>; edge: number }[],
): number {
  const inside = all.filter((it) => it !== loop && isInside(it, loop));
  return inside.length === 0 ? 0 : 1 + Math.max(...inside.map((it) => heightOf(it, inside)));
}
