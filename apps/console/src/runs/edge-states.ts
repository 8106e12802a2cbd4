import type { EdgeOutcome } from '../graph/edge-look.js';
import type { DefinitionEdge } from '../graph/graph.js';
import { type GraphLoop, loopsAround } from '../graph/loops.js';
import { nodeById } from '../graph/node-index.js';
import { loopKey } from './instance-name.js';
import type { NodePicture } from './node-picture.js';
import type { RunPicture } from './run-picture.js';
import { NEWEST, type Shown, shownNode, shownPlace } from './run-scope.js';

/**
 * Returns the state of each edge, by the edge's index. The state of a loop's edge follows from the loop's iterations,
 * the state of any other edge from the status of its source.
 * @param shown iterations of the loops that the page shows; nodes and edges in a loop have a state in each iteration
 */
export function edgeStates(picture: RunPicture, shown: Shown): EdgeOutcome[] {
  const { edges } = picture.graph;
  const states = new Map<number, EdgeOutcome>();
  const into = Map.groupBy(edges.keys(), (index) => edges[index]?.to ?? '');
  const stateOf = (index: number): EdgeOutcome => {
    if (states.has(index)) return states.get(index);
    states.set(index, undefined);
    const edge = edges[index];
    const state = edge && resolveEdgeState(picture, edge, index, shown, (node) => (into.get(node) ?? []).map(stateOf));
    states.set(index, state);
    return state;
  };
  return edges.map((_, index) => stateOf(index));
}

function resolveEdgeState(
  picture: RunPicture,
  edge: DefinitionEdge,
  index: number,
  shown: Shown,
  statesInto: (node: string) => EdgeOutcome[],
): EdgeOutcome {
  if (edge.loop) return backEdgeState(picture, edge, index, shown);
  const left = loopsLeft(picture, edge);
  const outermost = left[0];
  const source = shownNode(picture, edge.from, outermost ? NEWEST : shown);
  if (!source) return undefined;
  if (outermost) {
    const { path } = shownPlace(picture, edge.from, shown);
    const loop = picture.loops.get(loopKey(outermost.edge, path.slice(0, outermost.depth)));
    if (loop?.reason === undefined) return undefined;
    const { taken } = loop;
    return stateFrom(picture, edge, index, { ...source, ...(taken && { taken }) }, statesInto);
  }
  return stateFrom(picture, edge, index, source, statesInto);
}

/**
 * Returns the state of an edge, derived from the status of its source.
 * @param statesInto returns the states of all edges to a node
 */
function stateFrom(
  picture: RunPicture,
  edge: DefinitionEdge,
  index: number,
  source: NodePicture,
  statesInto: (node: string) => EdgeOutcome[],
): EdgeOutcome {
  switch (source.status) {
    case 'completed':
      return edge.on !== 'failure' && isEdgeTaken(picture, edge, index, source) ? 'live' : 'off';
    case 'failed':
      return failureState(picture, edge, index, source);
    case 'skipped':
      return skippedState(source, statesInto);
    case 'canceled':
      return 'off';
    default:
      return undefined;
  }
}

function failureState(picture: RunPicture, edge: DefinitionEdge, index: number, source: NodePicture): EdgeOutcome {
  const { edges } = picture.graph;
  const handlesFailure = (it: DefinitionEdge, at: number): boolean =>
    it.from === edge.from && (it.on === 'failure' || it.on === 'always') && isEdgeTaken(picture, it, at, source);
  if (handlesFailure(edge, index)) return 'live';
  const handled = edges.some(handlesFailure);
  return handled || edge.on === 'failure' || edge.on === 'always' ? 'off' : 'broken';
}

/**
 * Returns the state of an edge whose source was skipped: `broken` if the reason is `broken`; `off` if it is `off` or
 * `canceled`. For any other reason, `broken` if an edge into the source is `broken`, else `off`.
 */
function skippedState({ id, because }: NodePicture, statesInto: (node: string) => EdgeOutcome[]): EdgeOutcome {
  if (because === 'off' || because === 'canceled') return 'off';
  if (because === 'broken') return 'broken';
  return statesInto(id).includes('broken') ? 'broken' : 'off';
}

/**
 * True if an edge was taken. Call it only for an edge whose source node has ended.
 * - An edge without a condition was taken, unless its source has `branch: first`.
 * - Any other edge was taken if the event of its source's end lists the edge's index in `taken`.
 * - If that event has no `taken`, an edge without a condition counts as taken, and an edge with a condition does not.
 *
 * @param index index of the edge in `edges` of the definition
 */
function isEdgeTaken(
  picture: RunPicture,
  { when, from }: DefinitionEdge,
  index: number,
  { taken }: NodePicture,
): boolean {
  const chooses = nodeById(picture.graph.nodes, from)?.branch === 'first';
  if (when === undefined && !chooses) return true;
  return taken?.includes(index) ?? when === undefined;
}

function backEdgeState(picture: RunPicture, edge: DefinitionEdge, index: number, shown: Shown): EdgeOutcome {
  const { path } = shownPlace(picture, edge.from, shown);
  const depth = loopsAround(picture.graph.edges, edge.from).findIndex((loop) => loop.edge === index);
  const loop = picture.loops.get(loopKey(index, path.slice(0, Math.max(0, depth))));
  if (!loop) return undefined;
  if (loop.iteration > 1) return 'live';
  return loop.reason === undefined ? undefined : 'off';
}

/** Returns the loops that an edge leaves, outermost first. */
function loopsLeft({ graph: { edges } }: RunPicture, { from, to }: DefinitionEdge): GraphLoop[] {
  return loopsAround(edges, from).filter(({ body }) => !body.has(to));
}
