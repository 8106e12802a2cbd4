import { NodeClock } from './node-clock.js';
import type { NodeRun, NodeStatus } from './node-run.js';
import { NodeSets } from './node-sets.js';
import type { Decision, EndingOutcome, Skips } from './plan.js';
import type { Damage, UnitRun } from './scope.js';
import type { WorkflowGraph } from './workflow-graph.js';

/**
 * How far a run has come: what may start, what is under way, what is to be decided, and what it waits for. `Progress`
 * keeps it while the log is folded; an answer costs what it names. Lists are as defined.
 */
export class Frontier {
  /** How the run ends, once that was reported. */
  ending?: EndingOutcome;
  /** Whether the run's time is over. */
  isExpired = false;
  /** Whether nodes were canceled that were needed: only a cancel of the run does that. */
  isCancelBegun = false;
  readonly sets: NodeSets;
  readonly clock: NodeClock;
  /** Failures that came to an end of the run. */
  readonly unhandled = new Set<Damage>();
  /** What is to be decided, and of what kind that is. */
  readonly open = new Map<NodeRun | UnitRun, 'items' | 'list' | 'own' | 'loop'>();

  constructor(private readonly graph: WorkflowGraph) {
    this.sets = new NodeSets((id) => graph.place(id), !graph.isPlain);
    this.clock = new NodeClock((id) => graph.node(id));
  }

  /** Pending nodes that may start. */
  get ready(): NodeRun[] {
    return this.sets.ready();
  }

  /** As many of those that are to be started again, and then of `ready`, as may be at work beside what is. */
  startable(again: readonly NodeRun[]): NodeRun[] {
    const room = (this.graph.definition.parallel ?? Infinity) - this.sets.busy.size;
    return [...again.slice(0, Math.max(room, 0)), ...this.sets.ready(room - again.length)];
  }

  get running(): NodeRun[] {
    return this.sets.sorted(this.sets.byStatus.running);
  }

  /** Running nodes of whose Message to the agent nothing is reported yet. */
  get unsent(): NodeRun[] {
    return this.sets.unsent;
  }

  /** Nodes that ask something. */
  get waiting(): NodeRun[] {
    return this.sets.sorted(this.sets.byStatus['input-required']);
  }

  /** Nodes that run or wait; not those that only go through a list, but the entries of it. */
  get active(): NodeRun[] {
    return this.sets.active;
  }

  /** What is under way and to be canceled: nobody needs it any more. */
  get unwanted(): NodeRun[] {
    return this.isStruck ? this.active : this.sets.sorted(this.sets.withdrawn);
  }

  /** What is to be found out before the run goes on. */
  get undecided(): Decision[] {
    return [...this.open].flatMap(([key, kind]): Decision[] => {
      if (!('unit' in key)) return kind === 'loop' ? [] : [{ kind, node: key }];
      const { loop, inner } = key;
      return loop && inner ? [{ kind: 'loop', loop, failed: inner.doom !== undefined || inner.isLeft }] : [];
    });
  }

  /** What was skipped and is not reported yet. */
  get unreported(): Skips[] {
    return this.sets.skips;
  }

  get timers(): NodeClock['timers'] {
    return this.clock.timers;
  }

  /** Whether anything is under way of which the run will hear. */
  get isBusy(): boolean {
    return this.sets.busy.size > 0;
  }

  /** Whether the run fails, whatever else comes. */
  get isFailing(): boolean {
    return this.isExpired || this.unhandled.size > 0;
  }

  /** Whether nothing starts any more, as the run fails. */
  get isStruck(): boolean {
    return this.isExpired || (this.isFailing && this.graph.definition.onFailure !== 'continue');
  }

  /** Whether nodes were canceled that were needed: only a cancel of the run does that. */
  get isBeingCanceled(): boolean {
    return this.isCancelBegun && this.ending === undefined;
  }

  /** Whether any node has this status. */
  has(status: NodeStatus): boolean {
    return this.sets.byStatus[status].size > 0;
  }
}
