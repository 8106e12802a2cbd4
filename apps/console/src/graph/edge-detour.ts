import { type DefinitionEdge, NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';

/** Maximum size of a graph whose edges go around nodes, since each edge is compared with each node. */
const FEW = { nodes: 120, edges: 400 };
/** Distances in pixels from the direct line that are tried, the nearest first: 0, 15, -15, 30 and so on. */
const DETOURS = [0, ...Array.from({ length: 12 }, (_, index) => [15 * (index + 1), -15 * (index + 1)]).flat()];
/** Minimum number of pixels between an edge and a node. */
const MARGIN = 6;
/** Number of points of an edge that are compared with the nodes. */
const POINTS = 24;

/**
 * Returns the distance of each edge from its direct line at which it passes behind no node. It is 0 if the direct line
 * does not, if no distance is enough, for the edge of a loop, and in a large graph.
 */
export function findDetours(edges: readonly DefinitionEdge[], places: ReadonlyMap<string, Position>): number[] {
  if (places.size > FEW.nodes || edges.length > FEW.edges) return edges.map(() => 0);
  return edges.map(({ from, to, loop }) => {
    const [source, target] = [places.get(from), places.get(to)];
    // An edge between neighbors passes no other node.
    if (loop || !source || !target || target.x - source.x < 2 * NODE_WIDTH) return 0;
    const others = [...places].flatMap(([id, place]) => (id === from || id === to ? [] : [place]));
    return DETOURS.find((aside) => !meetsNode(source, target, aside, others)) ?? 0;
  });
}

/** True if the curve from a node to another, as `sidePath` draws it, meets one of the other nodes. */
function meetsNode(source: Position, target: Position, aside: number, others: readonly Position[]): boolean {
  const [x, y] = [source.x + NODE_WIDTH, source.y + NODE_HEIGHT / 2];
  const [width, height] = [target.x - x, target.y + NODE_HEIGHT / 2 - y];
  return Array.from({ length: POINTS }, (_, index) => (index + 0.5) / POINTS).some((t) => {
    const rest = 1 - t;
    // Both control points are half the way from the ends, and each is moved aside by four thirds of the distance.
    const across = x + width * (1.5 * rest * rest * t + 1.5 * rest * t * t + t * t * t);
    const down = y + height * (3 * rest * t * t + t * t * t) + 4 * rest * t * aside;
    return others.some(
      (node) =>
        across > node.x - MARGIN &&
        across < node.x + NODE_WIDTH + MARGIN &&
        down > node.y - MARGIN &&
        down < node.y + NODE_HEIGHT + MARGIN,
    );
  });
}
