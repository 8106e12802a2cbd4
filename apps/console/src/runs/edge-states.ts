import type { EdgeState } from '../graph/edge-look.js';
import type { GraphEdge } from '../graph/graph.js';
import { type Loop, loopsAround } from '../graph/loops.js';
import { nodeById } from '../graph/node-index.js';
import { loopKey } from './instance-name.js';
import type { NodePicture } from './node-picture.js';
import type { RunPicture } from './run-picture.js';
import { NEWEST, type Shown, shownNode, shownPlace } from './run-scope.js';

/** Returns the state of each edge, by index, in the shown iterations, as the events of its source say. */
export function edgeStates(picture: RunPicture, shown: Shown): EdgeState[] {
  const { edges } = picture.graph;
  const states = new Map<number, EdgeState>();
  const into = Map.groupBy(edges.keys(), (index) => edges[index]?.to ?? '');
  const stateOf = (index: number): EdgeState => {
    if (states.has(index)) return states.get(index);
    states.set(index, undefined);
    const edge = edges[index];
    const state = edge && settled(picture, edge, index, shown, (node) => (into.get(node) ?? []).map(stateOf));
    states.set(index, state);
    return state;
  };
  return edges.map((_, index) => stateOf(index));
}

function settled(
  picture: RunPicture,
  edge: GraphEdge,
  index: number,
  shown: Shown,
  statesInto: (node: string) => EdgeState[],
): EdgeState {
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

/** Returns the state of an edge from the status of its source. */
function stateFrom(
  picture: RunPicture,
  edge: GraphEdge,
  index: number,
  source: NodePicture,
  statesInto: (node: string) => EdgeState[],
): EdgeState {
  switch (source.status) {
    case 'completed':
      return edge.on !== 'failure' && isTaken(picture, edge, index, source) ? 'live' : 'off';
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

function failureState(picture: RunPicture, edge: GraphEdge, index: number, source: NodePicture): EdgeState {
  const { edges } = picture.graph;
  const handles = (it: GraphEdge, at: number): boolean =>
    it.from === edge.from && (it.on === 'failure' || it.on === 'always') && isTaken(picture, it, at, source);
  if (handles(edge, index)) return 'live';
  const handled = edges.some(handles);
  return handled || edge.on === 'failure' || edge.on === 'always' ? 'off' : 'broken';
}

/** Returns the state of an edge whose source was skipped: a failure or a choice before the source propagates. */
function skippedState({ id, because }: NodePicture, statesInto: (node: string) => EdgeState[]): EdgeState {
  if (because === 'off' || because === 'canceled') return 'off';
  if (because === 'broken') return 'broken';
  return statesInto(id).includes('broken') ? 'broken' : 'off';
}

/** True if an edge was taken: by the log if the source had to choose, else every edge without a condition. */
function isTaken(picture: RunPicture, { when, from }: GraphEdge, index: number, { taken }: NodePicture): boolean {
  const chooses = nodeById(picture.graph.nodes, from)?.branch === 'first';
  if (when === undefined && !chooses) return true;
  return taken?.includes(index) ?? when === undefined;
}

function backEdgeState(picture: RunPicture, edge: GraphEdge, index: number, shown: Shown): EdgeState {
  const { path } = shownPlace(picture, edge.from, shown);
  const depth = loopsAround(picture.graph.edges, edge.from).findIndex((loop) => loop.edge === index);
  const loop = picture.loops.get(loopKey(index, path.slice(0, Math.max(0, depth))));
  if (!loop) return undefined;
  if (loop.iteration > 1) return 'live';
  return loop.reason === undefined ? undefined : 'off';
}

/** Returns the loops that an edge leaves, outermost first. */
function loopsLeft({ graph: { edges } }: RunPicture, { from, to }: GraphEdge): Loop[] {
  return loopsAround(edges, from).filter(({ body }) => !body.has(to));
}
