import type { WorkflowFailure } from './failure.js';
import type { NodeInstance, NodeStatus, SkipReason } from './node-run.js';
import { instanceOf } from './progress.js';
import type { RunState } from './run-state.js';
import { shownFailure } from './shown-failure.js';

/** An instance of a node in a list of a run's instances. */
export interface InstanceView {
  instance: string;
  node: string;
  status: NodeStatus;
  attempts: number;
  taskId?: string;
  error?: WorkflowFailure;
  /** Reason why it is skipped. */
  because?: SkipReason;
  /** Reason and end of an idle wait (ISO 8601). */
  waitsFor?: { state: string; until?: string };
  /** Run from which the result was reused. */
  origin?: string;
  startedAt?: string;
  finishedAt?: string;
}

/** Number of instances of a node, in all and by status. The counts by status add up to the total. */
export type InstanceCounts = { total: number; completed: number; failed: number } & Partial<Record<NodeStatus, number>>;

/** Filter and position of a page of instances. */
export interface InstanceQuery {
  node?: string;
  status?: NodeStatus;
  /** Number of instances on the previous pages, including those that the filter excluded. */
  after: number;
  limit: number;
}

/** Returns a page of a run's instances in the order of their creation; `next` is absent on the last page. */
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

/**
 * Counts the instances of nodes that run more than once. Entries of a list are counted without the node that processes
 * the list.
 */
export function instanceCounts(run: Pick<RunState, 'instances'>): ReadonlyMap<string, InstanceCounts> {
  const counts = new Map<string, InstanceCounts>();
  const addCount = (id: string, status: NodeStatus, number: number): void => {
    const count = counts.get(id) ?? { total: 0, completed: 0, failed: 0 };
    count.total += number;
    if (number > 0) count[status] = (count[status] ?? 0) + number;
    counts.set(id, count);
  };
  for (const { id, each, list, path, status, origin } of run.instances.values()) {
    if (each === undefined && (path.length > 0 || list !== undefined)) addCount(id, status, 1);
    // Entries that were not reached have no instance.
    const isKnown = each !== undefined && (each.total > 0 || (status === 'completed' && origin === undefined));
    if (isKnown) addCount(id, status === 'running' ? 'pending' : 'skipped', each.total - each.runs.length);
  }
  return counts;
}

function instanceView(node: NodeInstance): InstanceView {
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

function errorOf(node: NodeInstance): WorkflowFailure | undefined {
  const { id, failure, error, status, waitsFor } = node;
  if (status !== 'failed' && waitsFor?.state !== 'retry') return undefined;
  if (failure !== undefined || error === undefined) return failure;
  return shownFailure({ node: id, ...instanceOf(node), message: error });
}
