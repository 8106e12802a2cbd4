import type { Graph } from '../graph/graph.js';
import { loopsAround } from '../graph/loops.js';
import type { Badged } from '../graph/node-badges.js';
import { FLOW_TYPES } from '../nodes/node-looks.js';
import { isNotBefore, loopKey, formatInstanceName, parseInstanceName } from './instance-name.js';
import { countedIn, endNode, nodeAfter, type NodePicture, type NodeSkipReason, pickTexts } from './node-picture.js';
import type { RunEvent } from './run-event.js';

/** The run's workflow, at the revision that the run uses. */
export interface RunGraph extends Badged {
  onFailure?: string;
  language?: number;
  deadline?: string;
}

/** State of one execution of a loop. A nested loop is executed once in each iteration of the loop around it. */
interface LoopPicture {
  /** Number of the newest iteration of the loop, from 1. */
  iteration: number;
  /** Reason why the loop ended: `exit_when`, `max`, `failure`; missing while it repeats. */
  reason?: string;
  /** Time (ISO 8601) at which the next iteration starts, if the loop pauses before it. */
  at?: string;
  /** Indexes of the conditional edges out of the loop that were taken. */
  taken?: readonly number[];
}

/** State of a run, folded from its events so far. */
export interface RunPicture {
  graph: RunGraph;
  status: string;
  startedAt?: string;
  finishedAt?: string;
  error?: { node?: string; message: string };
  /** Nodes by id, each in its newest iteration. A node with a list is one entry, for the list as a whole. */
  nodes: ReadonlyMap<string, NodePicture>;
  /** Instances by name: iterations and entries of lists. A node without instances is in `nodes` alone. */
  instances: ReadonlyMap<string, NodePicture>;
  /** States of loops, by `loopKey`. */
  loops: ReadonlyMap<string, LoopPicture>;
  /** Errors of edge conditions that could not be evaluated, by the edge's index. */
  edgeErrors: ReadonlyMap<number, string>;
  /** Present while the run is idle: it waits for an answer, or until the time `until`. */
  parked?: { until?: string };
  /** Outcome of the run, known while its exit nodes still run. */
  ending?: string;
}

/** Status of a run, and of each of its nodes, until the log has been read once to its end. */
export const UNREAD = 'unread';

/**
 * Returns the state of a run to show while the log of the run is being read. The status of the run and of all its nodes
 * is UNREAD.
 */
export function unreadPicture(graph: RunGraph): RunPicture {
  const picture = pictureOf(graph);
  const nodes = [...picture.nodes].map(([id, node]): [string, NodePicture] => [id, { ...node, status: UNREAD }]);
  return { ...picture, status: UNREAD, nodes: new Map(nodes) };
}

/** Returns the state of a run before its first event: the run is running, and all its nodes are pending. */
export function pictureOf(graph: RunGraph): RunPicture {
  const nodes = graph.nodes.map((node): [string, NodePicture] => [node.id, createPendingNode(node)]);
  return {
    graph,
    status: 'running',
    nodes: new Map(nodes),
    instances: new Map(),
    loops: new Map(),
    edgeErrors: new Map(),
  };
}

/**
 * Applies further events to the state of a run, and returns the new state. The same events always give the same state.
 */
export function applyEvents(picture: RunPicture, events: readonly RunEvent[]): RunPicture {
  const next: PictureDraft = {
    ...picture,
    nodes: new Map(picture.nodes),
    instances: new Map(picture.instances),
    loops: new Map(picture.loops),
    edgeErrors: new Map(picture.edgeErrors),
  };
  for (const event of events) {
    if (event.node_id !== undefined) takeNodeEvent(next, event.node_id, event);
    takeRunEvent(next, event);
  }
  return next;
}

type Maps = 'nodes' | 'instances' | 'loops' | 'edgeErrors';
type PictureDraft = { -readonly [K in keyof Omit<RunPicture, Maps>]: RunPicture[K] } & {
  [K in Maps]: Map<
    RunPicture[K] extends ReadonlyMap<infer Key, unknown> ? Key : never,
    RunPicture[K] extends ReadonlyMap<unknown, infer Value> ? Value : never
  >;
};

function createPendingNode({ id, type }: { id: string; type: string }, instance?: string): NodePicture {
  return { id, type, status: 'pending', attempts: [], ...(instance !== undefined && { instance }) };
}

function takeNodeEvent(run: PictureDraft, id: string, event: RunEvent): void {
  const name = event.instance ?? id;
  const before = run.instances.get(name) ?? (name === id ? run.nodes.get(id) : undefined);
  const known = run.nodes.get(id);
  if (!known) return;
  takeLoopEvent(run, event);
  storeInstance(run, name, nodeAfter(before ?? createPendingNode(known, name), event));
}

/**
 * Stores the state of a node's instance. If the instance is one entry of a list, the counts of the list are updated
 * too.
 */
function storeInstance(run: PictureDraft, name: string, node: NodePicture): void {
  const place = parseInstanceName(name);
  const before = run.instances.get(name)?.status;
  if (node.instance !== undefined) run.instances.set(name, node);
  raiseLoops(run, node.id, place.path);
  const newest = run.nodes.get(node.id);
  if (place.index !== undefined) {
    const whole = formatInstanceName({ node: node.id, path: place.path });
    const of =
      run.instances.get(whole) ??
      (whole === node.id ? newest : undefined) ??
      createPendingNode(node, whole === node.id ? undefined : whole);
    if (before !== node.status) storeInstance(run, whole, { ...of, list: countedIn(of.list, before, node.status) });
    return;
  }
  if (newest && isNotBefore(place.path, parseInstanceName(newest.instance ?? node.id).path))
    run.nodes.set(node.id, node);
}

/** Raises the iteration of each loop around a running node to at least the node's iteration. */
function raiseLoops(run: PictureDraft, node: string, path: readonly number[]): void {
  if (path.length === 0) return;
  for (const [depth, loop] of loopsAround(run.graph.edges, node).entries()) {
    const iteration = path[depth] ?? 1;
    const key = loopKey(loop.edge, path.slice(0, depth));
    const known = run.loops.get(key);
    if ((known?.iteration ?? 0) < iteration) run.loops.set(key, { ...known, iteration });
  }
}

const OF_LOOPS = new Set(['edge.error', 'loop.next', 'loop.ended']);

function takeLoopEvent(run: PictureDraft, { type, payload }: RunEvent): void {
  // Events of remote agents may carry anything.
  if (!OF_LOOPS.has(type)) return;
  const { edge, path = [], iteration, taken } = payload;
  if (typeof edge !== 'number') return;
  if (type === 'edge.error') {
    const { failure } = payload;
    run.edgeErrors.set(edge, (failure as { message?: string } | undefined)?.message ?? 'It could not be decided.');
    return;
  }
  const key = loopKey(edge, path as number[]);
  const { at: _at, ...known } = run.loops.get(key) ?? { iteration: 1 };
  if (type === 'loop.next') run.loops.set(key, { ...known, iteration: Number(iteration), ...pickTexts(payload, 'at') });
  if (type === 'loop.ended') {
    run.loops.set(key, {
      ...known,
      ...pickTexts(payload, 'reason'),
      ...(Array.isArray(taken) && { taken: taken as number[] }),
    });
  }
}

function takeRunEvent(run: PictureDraft, event: RunEvent): void {
  const { type, node_id: node, payload, timestamp } = event;
  if (type !== 'run.parked') delete run.parked;
  if (type === 'node.started' && node === undefined) run.startedAt ??= timestamp;
  else if (type === 'input.required') run.status = 'input-required';
  else if (type === 'input.received' || type === 'run.woken') run.status = 'running';
  else if (type === 'node.skipped') skipInstances(run, payload);
  else if (type === 'run.parked') run.parked = pickTexts(payload, 'until');
  else if (type === 'run.ending') run.ending = pickTexts(payload, 'outcome').outcome ?? 'completed';
  else if (type === 'node.error' && node !== undefined) takeFailure(run, node, event);
  else if (type === 'workflow.failed' || type === 'run.deadline') {
    const { node: blamed, error } = pickTexts(payload, 'node', 'error');
    const message = error ?? (payload['failure'] as { message?: string } | undefined)?.message;
    run.error ??= { ...(blamed !== undefined && { node: blamed }), message: message ?? 'The run failed' };
  } else if (type === 'done') {
    const { status = 'completed', error } = pickTexts(payload, 'status', 'error');
    run.status = status;
    run.finishedAt = timestamp;
    if (status === 'completed') delete run.error;
    else if (error !== undefined) run.error ??= { message: error };
    endRemainingNodes(run, timestamp);
  }
}

/**
 * Sets the run's error after the failure of a node, if the workflow is plain (`isPlain`). In any other workflow an edge
 * may handle the failure, and the end of the run reports the run's error.
 */
function takeFailure(run: PictureDraft, node: string, { payload }: RunEvent): void {
  if (!isPlain(run.graph)) return;
  const { message, error = 'It failed.' } = pickTexts(payload, 'message', 'error');
  run.error ??= { node, message: message ?? error };
  skipAfter(run, node);
}

function skipInstances(run: PictureDraft, payload: RunEvent['payload']): void {
  const { instances, because } = payload;
  if (!Array.isArray(instances)) return;
  for (const name of instances as string[]) {
    const { node: id, path, index } = parseInstanceName(name);
    const type = run.nodes.get(id)?.type;
    if (type === undefined) continue;
    const instance = path.length > 0 || index !== undefined ? name : undefined;
    storeInstance(run, name, {
      ...createPendingNode({ id, type }, instance),
      status: 'skipped',
      because: because as NodeSkipReason,
    });
  }
}

/**
 * Marks pending nodes as skipped after a failure: with `onFailure: continue` only the nodes that come after the failed
 * node, else all.
 */
function skipAfter({ graph, nodes }: PictureDraft, failed: string): void {
  const skipped = graph.onFailure === 'continue' ? collectDescendants(graph, failed) : nodes.keys();
  for (const id of skipped) {
    const node = nodes.get(id);
    if (node?.status === 'pending') nodes.set(id, { ...node, status: 'skipped' });
  }
}

/** Marks the remaining nodes of an ended run: pending nodes as skipped, running nodes as canceled. */
function endRemainingNodes({ nodes, instances }: PictureDraft, at: string): void {
  for (const map of [nodes, instances]) {
    for (const [name, node] of map) {
      if (node.status === 'pending') map.set(name, { ...node, status: 'skipped' });
      else if (node.status === 'running' || node.status === 'input-required')
        map.set(name, endNode(node, 'canceled', at));
    }
  }
}

function collectDescendants({ edges }: Graph, from: string): Set<string> {
  const found = new Set([from]);
  for (const at of found) for (const edge of edges) if (edge.from === at) found.add(edge.to);
  return found;
}

const CONTROLS = ['branch', 'join', 'each', 'retry', 'timeout', 'fallback', 'output', 'onWait'] as const;

const plain = new WeakMap<RunGraph, boolean>();

/**
 * True if a workflow has no conditions, loops, expressions, deadlines, settings such as `retry`, or other features that
 * change its flow (as `WorkflowGraph.isPlain` of the service). The log of its run then reports no skipped nodes: they
 * follow from the failures.
 */
export function isPlain(graph: RunGraph): boolean {
  const known = plain.get(graph);
  if (known !== undefined) return known;
  const is =
    graph.language !== 2 &&
    ['deadline', 'parallel', 'onExit'].every((key) => !(key in graph)) &&
    graph.edges.every(({ when, on, loop }) => when === undefined && on === undefined && loop === undefined) &&
    graph.nodes.every((node) => !FLOW_TYPES.includes(node.type) && CONTROLS.every((key) => node[key] === undefined));
  plain.set(graph, is);
  return is;
}
