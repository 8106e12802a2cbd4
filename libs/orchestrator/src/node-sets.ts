import { Heap } from './heap.js';
import type { NodeInstance, NodeStatus, SkipReason } from './node-run.js';
import type { Skips } from './plan.js';

/** Node types that the engine executes itself, without an agent. */
const OWN_TYPES: ReadonlySet<string> = new Set(['set', 'wait']);

/** True if the engine executes the node itself. */
export function isOwn({ type }: Pick<NodeInstance, 'type'>): boolean {
  return OWN_TYPES.has(type);
}

/**
 * Tracks the instances of a run by state. A change costs what changes, a query what it returns; lists are in the order
 * of the definition.
 */
export class NodeSets {
  readonly byStatus: Readonly<Record<NodeStatus, Set<NodeInstance>>> = {
    pending: new Set(),
    running: new Set(),
    'input-required': new Set(),
    completed: new Set(),
    failed: new Set(),
    canceled: new Set(),
    skipped: new Set(),
  };
  /** Running instances, except those that wait for a time or for the entries of a list. */
  readonly busy = new Set<NodeInstance>();
  /** Active instances whose results are not needed anymore. */
  readonly withdrawn = new Set<NodeInstance>();
  private readonly startable: Heap<NodeInstance>;
  private readonly unannounced = new Set<NodeInstance>();
  private readonly unreported = new Map<SkipReason, Set<string>>();
  private readonly before: (one: NodeInstance, other: NodeInstance) => boolean;

  /**
   * @param place position of a node in the definition, by its id
   * @param reports true if skips are reported
   */
  constructor(
    place: (id: string) => number,
    private readonly reports: boolean,
  ) {
    this.before = (one, other) => compareInstances(one, other, place) < 0;
    this.startable = new Heap(this.before);
  }

  /** Returns pending instances that may start now. */
  listStartable(most = Infinity): NodeInstance[] {
    return Number.isFinite(most)
      ? [...this.startable.iterateInOrder().take(Math.max(most, 0))]
      : [...this.startable.iterateInOrder()];
  }

  get unsent(): NodeInstance[] {
    return this.sortByPlace(this.unannounced);
  }

  /** Running or waiting instances, except those that only wait for the entries of a list. */
  get active(): NodeInstance[] {
    const { running, 'input-required': waiting } = this.byStatus;
    return this.sortByPlace([...running, ...waiting].filter(({ each }) => each === undefined));
  }

  sortByPlace(nodes: Iterable<NodeInstance>): NodeInstance[] {
    return [...nodes].sort((one, other) => (this.before(one, other) ? -1 : 1));
  }

  /** Skipped instances that are not reported yet, by reason. */
  get skips(): Skips[] {
    return [...this.unreported].map(([because, instances]) => ({ because, instances: [...instances] }));
  }

  /** Changes the status of an instance. Set its `messageId` and `waitsFor` first. */
  setStatus(node: NodeInstance, status: NodeStatus): void {
    this.byStatus[node.status].delete(node);
    this.busy.delete(node);
    this.unannounced.delete(node);
    if (node.status === 'pending') this.startable.delete(node);
    const moved: { status: NodeStatus } = node;
    moved.status = status;
    this.byStatus[status].add(node);
    if (status !== 'running' && status !== 'input-required') this.withdrawn.delete(node);
    if (status !== 'running' || node.waitsFor !== undefined || node.each !== undefined) return;
    this.busy.add(node);
    if (node.messageId === undefined && !isOwn(node)) this.unannounced.add(node);
  }

  /** Marks a pending instance as ready to start. */
  markStartable(node: NodeInstance): void {
    if (node.status === 'pending') this.startable.add(node);
  }

  /** Makes an instance wait again. */
  unmarkStartable(node: NodeInstance): void {
    this.startable.delete(node);
  }

  skipNode(node: NodeInstance, because: SkipReason): void {
    node.because = because;
    this.setStatus(node, 'skipped');
    if (!this.reports) return;
    const instances = this.unreported.get(because) ?? new Set();
    this.unreported.set(because, instances.add(node.instance));
  }

  markReported(instances: readonly string[]): void {
    for (const [because, left] of this.unreported) {
      for (const instance of instances) left.delete(instance);
      if (left.size === 0) this.unreported.delete(because);
    }
  }
}

/** Compares instances by the position of their nodes, then by iteration and index. */
function compareInstances(one: NodeInstance, other: NodeInstance, place: (id: string) => number): number {
  if (one.id !== other.id) return place(one.id) - place(other.id);
  const [left, right] = [orderOf(one), orderOf(other)];
  const at = left.findIndex((value, index) => value !== right[index]);
  return at < 0 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? 0);
}

function orderOf({ path, index }: NodeInstance): readonly number[] {
  return index === undefined ? path : [...path, index];
}
