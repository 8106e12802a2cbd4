import type { Graph } from '../graph/graph.js';
import { loopsAround } from '../graph/loops.js';
import type { Badged } from '../graph/node-badges.js';
import { FLOW_TYPES } from '../nodes/node-looks.js';
import { isNotBefore, loopKey, nameOf, placeOf } from './instance-name.js';
import { countedIn, ended, nodeAfter, type NodePicture, type SkipReason, texts } from './node-picture.js';
import type { RunEvent } from './run-event.js';

/** The workflow as the run began with it. */
export interface RunGraph extends Badged {
  onFailure?: string;
  language?: number;
  deadline?: string;
}

/** One run of a loop. */
export interface LoopPicture {
  /** The newest one; they count from 1. */
  iteration: number;
  /** Why it repeats no more: `exit_when`, `max`, `failure`; absent while it goes on. */
  reason?: string;
  /** When its next iteration begins, where it pauses before. */
  at?: string;
  /** Of the edges out of it with conditions, those that were taken. */
  taken?: readonly number[];
}

/** A run, as far as the events reported. */
export interface RunPicture {
  graph: RunGraph;
  status: string;
  startedAt?: string;
  finishedAt?: string;
  error?: { node?: string; message: string };
  /** By id each node, in its newest iteration; of one that goes through a list, the whole of it. */
  nodes: ReadonlyMap<string, NodePicture>;
  /** By name every instance that is none of a plain node: iterations, entries of lists. */
  instances: ReadonlyMap<string, NodePicture>;
  /** By `loopKey`. */
  loops: ReadonlyMap<string, LoopPicture>;
  /** By the place of an edge, why its condition could not be decided. */
  edgeErrors: ReadonlyMap<number, string>;
  /** Until when nothing happens: a time, or an answer. */
  parked?: { until?: string };
  /** How it will end, while the nodes of its end run. */
  ending?: string;
}

export function pictureOf(graph: RunGraph): RunPicture {
  const nodes = graph.nodes.map((node): [string, NodePicture] => [node.id, pending(node)]);
  return {
    graph,
    status: 'running',
    nodes: new Map(nodes),
    instances: new Map(),
    loops: new Map(),
    edgeErrors: new Map(),
  };
}

/** The picture after some more events. The same events always give the same picture. */
export function folded(picture: RunPicture, events: readonly RunEvent[]): RunPicture {
  const next: Draft = {
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
type Draft = { -readonly [K in keyof Omit<RunPicture, Maps>]: RunPicture[K] } & {
  [K in Maps]: Map<
    RunPicture[K] extends ReadonlyMap<infer Key, unknown> ? Key : never,
    RunPicture[K] extends ReadonlyMap<unknown, infer Value> ? Value : never
  >;
};

function pending({ id, type }: { id: string; type: string }, instance?: string): NodePicture {
  return { id, type, status: 'pending', attempts: [], ...(instance !== undefined && { instance }) };
}

function takeNodeEvent(run: Draft, id: string, event: RunEvent): void {
  const name = event.instance ?? id;
  const before = run.instances.get(name) ?? (name === id ? run.nodes.get(id) : undefined);
  const known = run.nodes.get(id);
  if (!known) return;
  takeLoopEvent(run, event);
  set(run, name, nodeAfter(before ?? pending(known, name), event));
}

/** Puts an instance where it belongs, and counts it where it is an entry of a list. */
function set(run: Draft, name: string, node: NodePicture): void {
  const place = placeOf(name);
  const before = run.instances.get(name)?.status;
  if (node.instance !== undefined) run.instances.set(name, node);
  reach(run, node.id, place.path);
  const newest = run.nodes.get(node.id);
  if (place.index !== undefined) {
    const whole = nameOf({ node: node.id, path: place.path });
    const of =
      run.instances.get(whole) ??
      (whole === node.id ? newest : undefined) ??
      pending(node, whole === node.id ? undefined : whole);
    if (before !== node.status) set(run, whole, { ...of, list: countedIn(of.list, before, node.status) });
    return;
  }
  if (newest && isNotBefore(place.path, placeOf(newest.instance ?? node.id).path)) run.nodes.set(node.id, node);
}

/** The loops around a node that runs have come at least as far. */
function reach(run: Draft, node: string, path: readonly number[]): void {
  if (path.length === 0) return;
  for (const [depth, loop] of loopsAround(run.graph.edges, node).entries()) {
    const iteration = path[depth] ?? 1;
    const key = loopKey(loop.edge, path.slice(0, depth));
    const known = run.loops.get(key);
    if ((known?.iteration ?? 0) < iteration) run.loops.set(key, { ...known, iteration });
  }
}

const OF_LOOPS = new Set(['edge.error', 'loop.next', 'loop.ended']);

function takeLoopEvent(run: Draft, { type, payload }: RunEvent): void {
  // Steps of agents elsewhere may say anything.
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
  if (type === 'loop.next') run.loops.set(key, { ...known, iteration: Number(iteration), ...texts(payload, 'at') });
  if (type === 'loop.ended') {
    run.loops.set(key, {
      ...known,
      ...texts(payload, 'reason'),
      ...(Array.isArray(taken) && { taken: taken as number[] }),
    });
  }
}

function takeRunEvent(run: Draft, event: RunEvent): void {
  const { type, node_id: node, payload, timestamp } = event;
  if (type !== 'run.parked') delete run.parked;
  if (type === 'node.started' && node === undefined) run.startedAt ??= timestamp;
  else if (type === 'input.required') run.status = 'input-required';
  else if (type === 'input.received' || type === 'run.woken') run.status = 'running';
  else if (type === 'node.skipped') skip(run, payload);
  else if (type === 'run.parked') run.parked = texts(payload, 'until');
  else if (type === 'run.ending') run.ending = texts(payload, 'outcome').outcome ?? 'completed';
  else if (type === 'node.error' && node !== undefined) takeFailure(run, node, event);
  else if (type === 'workflow.failed' || type === 'run.deadline') {
    const { node: blamed, error } = texts(payload, 'node', 'error');
    const message = error ?? (payload['failure'] as { message?: string } | undefined)?.message;
    run.error ??= { ...(blamed !== undefined && { node: blamed }), message: message ?? 'The run failed' };
  } else if (type === 'done') {
    const { status = 'completed', error } = texts(payload, 'status', 'error');
    run.status = status;
    run.finishedAt = timestamp;
    if (status === 'completed') delete run.error;
    else if (error !== undefined) run.error ??= { message: error };
    settle(run, timestamp);
  }
}

/** In a workflow that can take care of failures, only the end says which one nothing took care of. */
function takeFailure(run: Draft, node: string, { payload }: RunEvent): void {
  if (!isPlain(run.graph)) return;
  const { message, error = 'It failed.' } = texts(payload, 'message', 'error');
  run.error ??= { node, message: message ?? error };
  skipAfter(run, node);
}

function skip(run: Draft, payload: RunEvent['payload']): void {
  const { instances, because } = payload;
  if (!Array.isArray(instances)) return;
  for (const name of instances as string[]) {
    const { node: id, path, index } = placeOf(name);
    const type = run.nodes.get(id)?.type;
    if (type === undefined) continue;
    const instance = path.length > 0 || index !== undefined ? name : undefined;
    set(run, name, { ...pending({ id, type }, instance), status: 'skipped', because: because as SkipReason });
  }
}

/** Without `continue` no other node is started; with it only what follows from the failed one is not. */
function skipAfter({ graph, nodes }: Draft, failed: string): void {
  const skipped = graph.onFailure === 'continue' ? descendants(graph, failed) : nodes.keys();
  for (const id of skipped) {
    const node = nodes.get(id);
    if (node?.status === 'pending') nodes.set(id, { ...node, status: 'skipped' });
  }
}

/** What an ended run left behind was never started, or stopped with it. */
function settle({ nodes, instances }: Draft, at: string): void {
  for (const map of [nodes, instances]) {
    for (const [name, node] of map) {
      if (node.status === 'pending') map.set(name, { ...node, status: 'skipped' });
      else if (node.status === 'running' || node.status === 'input-required')
        map.set(name, ended(node, 'canceled', at));
    }
  }
}

function descendants({ edges }: Graph, from: string): Set<string> {
  const found = new Set([from]);
  for (const at of found) for (const edge of edges) if (edge.from === at) found.add(edge.to);
  return found;
}

const CONTROLS = ['branch', 'join', 'each', 'retry', 'timeout', 'fallback', 'output', 'onWait'] as const;

const plain = new WeakMap<RunGraph, boolean>();

/** Whether a workflow says nothing of what its log would then tell: what is skipped follows from what failed. */
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
