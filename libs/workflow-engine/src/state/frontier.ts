import type { JsonValue } from '#libs/protocol';
import type { WorkflowGraph, WorkflowNode } from '#libs/workflow-definition';
import type { Instances, LoopRun, NodeInstance, NodeStatus, SkipReason } from './node-instance.js';
import type { FailurePropagation, UnitState } from './scope-tree.js';
import { Heap, NodeClock, type Timer } from './timers.js';

/** Final outcome of a run. */
export type EndingOutcome = 'completed' | 'failed' | 'canceled';

/**
 * Outcome of a run or of a turn. `input-required`: the run waits for an answer; `parked`: the run only waits for a time
 * that is more than half a minute away. In both cases its process releases the run.
 */
export type RunOutcome = EndingOutcome | 'input-required' | 'parked';

/**
 * Decision that must be made before the run continues, by an expression or by the engine. `RunDecisions` makes it and
 * creates the events that record the result.
 */
export type Decision =
  /**
   * Evaluation of the list of a started node with `each`. The result is the event `each.started`, or the node's
   * failure.
   */
  | { kind: 'items'; node: NodeInstance }
  /** End of a node whose list entries have ended: completion or failure of the node. */
  | { kind: 'list'; node: NodeInstance }
  /** Execution of a started `set` or `wait` node, by the engine. */
  | { kind: 'own'; node: NodeInstance }
  /**
   * Next step of a loop whose newest iteration is over: `loop.next` or `loop.ended`; always `loop.ended` if `failed`.
   */
  | { kind: 'loop'; loop: LoopRun; failed: boolean }
  /**
   * Decision on the outcome of the run, after which the `onExit` nodes for this outcome start. The result is the event
   * `run.ending`.
   */
  | { kind: 'ending'; outcome: EndingOutcome };

/** Skipped instances whose `node.skipped` is not recorded yet, with the reason that they share. */
export interface Skips {
  because: SkipReason;
  instances: string[];
}

/**
 * Next steps of a run, as `planNext` returns them. Members are in the order of their execution, but `stop` is executed
 * last unless the run fails. Lists are in the order of the definition.
 */
export interface Plan {
  /** Nodes to cancel now, because their results are no longer needed. */
  stop: NodeInstance[];
  /** Skipped instances to record with `node.skipped`. */
  report: Skips[];
  /** Decisions that the run must make next. */
  decide: Decision[];
  /** Waiting nodes that the newest Message to the run answers. */
  answer: NodeInstance[];
  /** Due timers, except those that start a node. */
  fire: Timer[];
  /** Nodes to start now, for the first time or as a retry. */
  start: NodeInstance[];
  /** Outcome of the turn or the run; absent while a node is running or any step above is left. */
  outcome?: RunOutcome;
  /** Time at which the run must be planned again even without an event, in milliseconds of the epoch. */
  wakeAt?: number;
}

/** Node types that the engine executes itself, without an agent. */
const OWN_TYPES: ReadonlySet<string> = new Set(['set', 'wait']);

/** True if the engine executes the node itself, without calling an agent. */
export function isOwn({ type }: Pick<NodeInstance, 'type'>): boolean {
  return OWN_TYPES.has(type);
}

/**
 * True if an attempt of a node is under way: the node is `running`, and waits neither for a time nor for the entries of
 * its list.
 */
function isUnderWay({ status, waitsFor, each }: NodeInstance): boolean {
  return status === 'running' && waitsFor === undefined && each === undefined;
}

function isEndedEntry(entry: NodeInstance): entry is NodeInstance & { status: 'completed' | 'failed' | 'canceled' } {
  return entry.status === 'completed' || entry.status === 'failed' || entry.status === 'canceled';
}

/**
 * Tracks the instances of a run by state (status, ready, not needed, skipped). The cost of a change is proportional to
 * what changes; the cost of a query to its result. Lists are in the order of the definition.
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
  /** Active instances whose results are no longer needed. */
  readonly withdrawn = new Set<NodeInstance>();
  private readonly startable: Heap<NodeInstance>;
  /** Startable instances in order, as last listed; absent if an instance was added since. */
  private inOrder: readonly NodeInstance[] | undefined;
  private readonly unannounced = new Set<NodeInstance>();
  private readonly unreported = new Map<SkipReason, Set<string>>();
  private readonly before: (one: NodeInstance, other: NodeInstance) => boolean;

  /**
   * @param place returns the position of a node in the definition, by node id
   * @param reports true if skips are recorded in the log
   */
  constructor(
    place: (id: string) => number,
    private readonly reports: boolean,
  ) {
    this.before = (one, other) => compareInstances(one, other, place) < 0;
    this.startable = new Heap(this.before);
  }

  /**
   * Returns pending instances that may start now, at most `most` of them. The complete list is sorted once, and reused
   * until an instance is added.
   */
  listStartable(most = Infinity): readonly NodeInstance[] {
    if (most < this.startable.size) return [...this.startable.iterateInOrder().take(Math.max(most, 0))];
    this.inOrder = this.inOrder?.filter((node) => this.startable.has(node)) ?? [...this.startable.iterateInOrder()];
    return this.inOrder;
  }

  /** Running instances whose Message to the agent is not recorded yet. */
  get unsent(): NodeInstance[] {
    return this.sortByPlace(this.unannounced);
  }

  /** Running or waiting instances, except those that only wait for the entries of their list. */
  get active(): NodeInstance[] {
    const { running, 'input-required': waiting } = this.byStatus;
    return this.sortByPlace([...running, ...waiting].filter(({ each }) => each === undefined));
  }

  sortByPlace(nodes: Iterable<NodeInstance>): NodeInstance[] {
    return [...nodes].sort((one, other) => (this.before(one, other) ? -1 : 1));
  }

  /** Skipped instances whose `node.skipped` is not recorded yet, by reason. */
  get skips(): Skips[] {
    return [...this.unreported].map(([because, instances]) => ({ because, instances: [...instances] }));
  }

  /** Changes the status of an instance. Set its `messageId` and `waitsFor` before the call. */
  setStatus(node: NodeInstance, status: NodeStatus): void {
    this.byStatus[node.status].delete(node);
    this.busy.delete(node);
    this.unannounced.delete(node);
    if (node.status === 'pending') this.startable.delete(node);
    const moved: { status: NodeStatus } = node;
    moved.status = status;
    this.byStatus[status].add(node);
    if (status !== 'running' && status !== 'input-required') this.withdrawn.delete(node);
    if (!isUnderWay(node)) return;
    this.busy.add(node);
    if (node.messageId === undefined && !isOwn(node)) this.unannounced.add(node);
  }

  /** Marks a pending instance as ready to start. */
  markStartable(node: NodeInstance): void {
    if (node.status !== 'pending') return;
    this.startable.add(node);
    this.inOrder = undefined;
  }

  /** Marks a pending instance as not ready. */
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

/**
 * Compares instances by the position of their nodes, then by iteration, then by list index.
 * @param place returns the position of a node in the definition, by node id
 */
function compareInstances(one: NodeInstance, other: NodeInstance, place: (id: string) => number): number {
  if (one.id !== other.id) return place(one.id) - place(other.id);
  const [left, right] = [orderOf(one), orderOf(other)];
  const at = left.findIndex((value, index) => value !== right[index]);
  return at < 0 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? 0);
}

function orderOf({ path, index }: NodeInstance): readonly number[] {
  return index === undefined ? path : [...path, index];
}

/** Default of `each.concurrency`: maximum number of entries of a list that run at once. */
const CONCURRENCY = 5;

/** Receives the progress of nodes that process a list. */
export interface ListListener {
  /** Called when all started entries have ended and no further entry starts: the node can end. */
  onListOver(list: NodeInstance): void;
  /** Called for a running or waiting entry that is no longer needed. */
  onEntryWithdrawn(entry: NodeInstance): void;
  /** Called when no entry of a withdrawn list is running or waiting any more. */
  onListCanceled(list: NodeInstance): void;
}

/**
 * Starts the entries of lists (`each`), up to `each.concurrency` at once. The instance of an entry is created when the
 * entry starts.
 */
export class Lists {
  /** Lists that start no further entry, each with the number of its skipped entries. */
  private readonly closed = new Map<NodeInstance, number>();
  private readonly withdrawn = new Set<NodeInstance>();

  constructor(
    private readonly instances: Instances,
    private readonly sets: NodeSets,
    private readonly nodeOf: (id: string) => WorkflowNode,
    private readonly listener: ListListener,
  ) {}

  startList(list: NodeInstance, items: readonly JsonValue[]): void {
    const { each } = list;
    if (each === undefined || each.items !== undefined) return;
    each.items = items;
    each.total = items.length;
    this.advanceList(list);
  }

  /** Counts an entry that has completed, failed or was canceled, and starts the next entries. */
  recordEntryEnd(entry: NodeInstance): void {
    const { list } = entry;
    if (list?.each === undefined) return;
    const { each } = list;
    if (isEndedEntry(entry)) each[entry.status] += 1;
    if (entry.status === 'failed') each.firstFailed ??= entry;
    const tolerates = this.nodeOf(list.id).each?.onFailure === 'collect';
    if (entry.status === 'failed' && !tolerates) this.closeList(list);
    this.advanceList(list);
  }

  /** Stops a list whose result is no longer needed: no further entry starts, and running entries are withdrawn. */
  withdrawList(list: NodeInstance): void {
    this.withdrawn.add(list);
    this.closeList(list);
    this.advanceList(list);
  }

  /**
   * Drops the items and the Artifacts of the entries from memory once the node has ended: the Artifact of the node has
   * the results.
   */
  finishList(list: NodeInstance): void {
    this.closed.delete(list);
    this.withdrawn.delete(list);
    delete list.each?.items;
    for (const entry of list.each?.runs ?? []) entry.artifacts = [];
  }

  /** Starts no further entry of a list, and withdraws the entries that are running or waiting. */
  private closeList(list: NodeInstance): void {
    if (this.closed.has(list)) return;
    let skipped = 0;
    for (const entry of list.each?.runs ?? []) {
      if (entry.status === 'pending') this.sets.skipNode(entry, 'canceled');
      if (entry.status === 'skipped') skipped += 1;
      if (entry.status === 'running' || entry.status === 'input-required') this.listener.onEntryWithdrawn(entry);
    }
    this.closed.set(list, skipped);
  }

  private advanceList(list: NodeInstance): void {
    const { each } = list;
    if (each === undefined) return;
    const { concurrency = CONCURRENCY } = this.nodeOf(list.id).each ?? {};
    const ended = each.completed + each.failed + each.canceled;
    const skipped = this.closed.get(list);
    if (skipped === undefined) {
      while (each.runs.length < each.total && each.runs.length - ended < concurrency) this.beginEntry(list, each.runs);
      if (each.items !== undefined && ended === each.total) this.listener.onListOver(list);
    } else if (each.runs.length === ended + skipped) {
      if (this.withdrawn.has(list)) this.listener.onListCanceled(list);
      else this.listener.onListOver(list);
    }
  }

  private beginEntry(list: NodeInstance, runs: NodeInstance[]): void {
    const entry = this.instances.addListEntry(this.nodeOf(list.id), list, runs.length);
    runs.push(entry);
    this.sets.markStartable(entry);
  }
}

/**
 * Progress of a run: the ready, running and waiting nodes, the pending decisions, and the timers. `planNext` reads the
 * next steps from it.
 * - `RunProgress` updates it while the log is folded.
 * - The cost of a read is proportional to its result.
 * - Nodes are returned in the order of the definition.
 */
export class Frontier {
  /** Outcome of the run, once it is recorded. */
  ending?: EndingOutcome;
  /** True if the run's deadline has passed. */
  isExpired = false;
  /**
   * True if a node was canceled although its result was still needed. That happens only in a cancel of the run, so the
   * cancel has begun.
   */
  isCancelBegun = false;
  readonly sets: NodeSets;
  readonly clock: NodeClock;
  /** Failures that no edge has handled and that have reached the end of the run. */
  readonly unhandled = new Set<FailurePropagation>();
  /** Nodes and loops with a pending decision, each with the kind of the decision. */
  readonly open = new Map<NodeInstance | UnitState, 'items' | 'list' | 'own' | 'loop'>();

  constructor(private readonly graph: WorkflowGraph) {
    this.sets = new NodeSets((id) => graph.placeInDefinition(id), !graph.isPlain);
    this.clock = new NodeClock((id) => graph.node(id));
  }

  /** Pending nodes that may start now. */
  get ready(): readonly NodeInstance[] {
    return this.sets.listStartable();
  }

  /**
   * Returns the nodes to start now: retries first, then ready nodes, up to the `parallel` limit.
   * @param again nodes whose retry is due
   */
  selectNodesToStart(again: readonly NodeInstance[]): NodeInstance[] {
    const room = (this.graph.definition.parallel ?? Infinity) - this.sets.busy.size;
    return [...again.slice(0, Math.max(room, 0)), ...this.sets.listStartable(room - again.length)];
  }

  get running(): NodeInstance[] {
    return this.sets.sortByPlace(this.sets.byStatus.running);
  }

  /** Running nodes whose Message to the agent is not recorded yet. */
  get undispatchedNodes(): NodeInstance[] {
    return this.sets.unsent;
  }

  /** Nodes that wait for an answer. */
  get waiting(): NodeInstance[] {
    return this.sets.sortByPlace(this.sets.byStatus['input-required']);
  }

  /**
   * Running and waiting nodes. For a node that processes a list, its running and waiting entries are returned instead.
   */
  get active(): NodeInstance[] {
    return this.sets.active;
  }

  /** Nodes to cancel: they are running or waiting, and no longer needed. */
  get nodesToCancel(): NodeInstance[] {
    return this.isFailingFast ? this.active : this.sets.sortByPlace(this.sets.withdrawn);
  }

  /** Decisions to make before the run continues. */
  get pendingDecisions(): Decision[] {
    return [...this.open].flatMap(([key, kind]): Decision[] => {
      if (!('unit' in key)) return kind === 'loop' ? [] : [{ kind, node: key }];
      const { loop, inner } = key;
      return loop && inner ? [{ kind: 'loop', loop, failed: inner.doom !== undefined || inner.isLeft }] : [];
    });
  }

  /** Skipped instances whose `node.skipped` is not recorded yet. */
  get unreportedSkips(): Skips[] {
    return this.sets.skips;
  }

  get timers(): NodeClock['timers'] {
    return this.clock.timers;
  }

  /** True if an attempt of any node is under way, so that another event of the run will follow. */
  get isBusy(): boolean {
    return this.sets.busy.size > 0;
  }

  /** True if the run will fail, whatever happens next. */
  get isFailing(): boolean {
    return this.isExpired || this.unhandled.size > 0;
  }

  /** True if the run fails and no further node starts. */
  get isFailingFast(): boolean {
    return this.isExpired || (this.isFailing && this.graph.definition.onFailure !== 'continue');
  }

  /** True if a cancel of the run has begun, and its outcome is not recorded yet. */
  get isBeingCanceled(): boolean {
    return this.isCancelBegun && this.ending === undefined;
  }

  /** True if any node has this status. */
  hasNodeWithStatus(status: NodeStatus): boolean {
    return this.sets.byStatus[status].size > 0;
  }
}
