import { NodeClock } from './node-clock.js';
import type { NodeInstance, NodeStatus } from './node-run.js';
import { NodeSets } from './node-sets.js';
import type { Decision, EndingOutcome, Skips } from './plan.js';
import type { FailurePropagation, UnitState } from './scope.js';
import type { WorkflowGraph } from './workflow-graph.js';

/**
 * Progress of a run: the nodes that are ready, running and waiting, the pending decisions, and the timers.
 * - `Progress` updates it while the log is folded.
 * - The cost of a read is proportional to its result.
 * - Lists are in the order of the definition.
 */
export class Frontier {
  /** Outcome of the run, once it is recorded. */
  ending?: EndingOutcome;
  /** True if the run's deadline has passed. */
  isExpired = false;
  /** True if needed nodes were canceled, which only a cancel of the run does. */
  isCancelBegun = false;
  readonly sets: NodeSets;
  readonly clock: NodeClock;
  /** Failures that no edge handled before they reached an end of the run. */
  readonly unhandled = new Set<FailurePropagation>();
  /** Pending decisions, each with its kind. */
  readonly open = new Map<NodeInstance | UnitState, 'items' | 'list' | 'own' | 'loop'>();

  constructor(private readonly graph: WorkflowGraph) {
    this.sets = new NodeSets((id) => graph.placeInDefinition(id), !graph.isPlain);
    this.clock = new NodeClock((id) => graph.node(id));
  }

  /** Pending nodes that may start. */
  get ready(): NodeInstance[] {
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

  /** Running nodes without a recorded Message to their agent. */
  get undispatchedNodes(): NodeInstance[] {
    return this.sets.unsent;
  }

  /** Nodes that wait for an answer. */
  get waiting(): NodeInstance[] {
    return this.sets.sortByPlace(this.sets.byStatus['input-required']);
  }

  /** Running and waiting nodes; for a list, its entries instead of the node itself. */
  get active(): NodeInstance[] {
    return this.sets.active;
  }

  /** Nodes to cancel: they are under way and no longer needed. */
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

  /** Skips that are not recorded yet. */
  get unreportedSkips(): Skips[] {
    return this.sets.skips;
  }

  get timers(): NodeClock['timers'] {
    return this.clock.timers;
  }

  /** True if any node is at work, which leads to another event of the run. */
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
