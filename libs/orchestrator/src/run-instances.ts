import type { Failure } from './failure.js';
import type { NodeRun, NodeStatus, SkipReason } from './node-run.js';
import { instanceOf } from './progress.js';
import type { RunState } from './run-state.js';
import { shownFailure } from './shown-failure.js';

/** One instance of a node, as a list of a run's instances shows it. */
export interface InstanceView {
  instance: string;
  node: string;
  status: NodeStatus;
  attempts: number;
  taskId?: string;
  error?: Failure;
  /** Why it is skipped. */
  because?: SkipReason;
  /** While nothing is done: for what, and until when (ISO 8601). */
  waitsFor?: { state: string; until?: string };
  /** The run that its result was taken over from. */
  origin?: string;
  startedAt?: string;
  finishedAt?: string;
}

/** How many instances of a node there are, and of each status that any has: together as many as in all. */
export type InstanceCounts = { total: number; completed: number; failed: number } & Partial<Record<NodeStatus, number>>;

/** Which instances are asked for. */
export interface InstanceQuery {
  node?: string;
  status?: NodeStatus;
  /** How many of all instances were looked at before. */
  after: number;
  limit: number;
}

/** A page of a run's instances in the order in which they came to be; `next` is absent on the last one. */
export function instancePage(
  run: Pick<RunState, 'instances'>,
  { node, status, after, limit }: InstanceQuery,
): { instances: InstanceView[]; next?: number } {
  const found: InstanceView[] = [];
  let place = 0;
  for (const instance of run.instances.values()) {
    place += 1;
    if (place <= after || (node !== undefined && instance.id !== node)) continue;
    if (status !== undefined && instance.status !== status) continue;
    if (found.length === limit) return { instances: found, next: place - 1 };
    found.push(instanceView(instance));
  }
  return { instances: found };
}

/** Of the nodes that run more than once: the entries of a list by themselves, without the node that goes through it. */
export function instanceCounts(run: Pick<RunState, 'instances'>): ReadonlyMap<string, InstanceCounts> {
  const counts = new Map<string, InstanceCounts>();
  const add = (id: string, status: NodeStatus, number: number): void => {
    const count = counts.get(id) ?? { total: 0, completed: 0, failed: 0 };
    count.total += number;
    if (number > 0) count[status] = (count[status] ?? 0) + number;
    counts.set(id, count);
  };
  for (const { id, each, list, path, status, origin } of run.instances.values()) {
    if (each === undefined && (path.length > 0 || list !== undefined)) add(id, status, 1);
    // Entries whose turn has not come are no instances yet, or never will be.
    const isKnown = each !== undefined && (each.total > 0 || (status === 'completed' && origin === undefined));
    if (isKnown) add(id, status === 'running' ? 'pending' : 'skipped', each.total - each.runs.length);
  }
  return counts;
}

function instanceView(node: NodeRun): InstanceView {
  const { instance, id, status, attempts, taskId, because, waitsFor, origin, startedAt, finishedAt } = node;
  const error = errorOf(node);
  return {
    instance,
    node: id,
    status,
    attempts,
    ...(taskId !== undefined && { taskId }),
    ...(error && { error }),
    ...(because && { because }),
    ...(waitsFor && { waitsFor }),
    ...(origin !== undefined && { origin }),
    ...(startedAt !== undefined && { startedAt }),
    ...(finishedAt !== undefined && { finishedAt }),
  };
}

function errorOf(node: NodeRun): Failure | undefined {
  const { id, failure, error, status, waitsFor } = node;
  if (status !== 'failed' && waitsFor?.state !== 'retry') return undefined;
  if (failure !== undefined || error === undefined) return failure;
  return shownFailure({ node: id, ...instanceOf(node), message: error });
}
