import { parseDuration } from '#libs/expressions';
import type { Artifact, JsonObject, JsonValue, Message } from '#libs/protocol';
import type { WorkflowDefinition, WorkflowFailure, WorkflowGraph } from '#libs/workflow-definition';
import { EdgePropagation } from './edge-propagation.js';
import { type EndingOutcome, Frontier, isOwn, Lists } from './frontier.js';
import {
  type CanceledChild,
  Instances,
  type LoopReason,
  type NodeInstance,
  type RunError,
  type RunStatus,
  type SkipReason,
} from './node-instance.js';
import {
  type FailurePropagation,
  type IterationScope,
  type LoopAddress,
  ScopeTree,
  type UnitState,
} from './scope-tree.js';
import { parseTimestamp } from './timers.js';

/** Data of a `loop.ended` event. */
export interface LoopEnd {
  reason: LoopReason;
  at: string;
  taken?: readonly number[];
  failure?: WorkflowFailure;
}

/** Time limit of all `onExit` nodes together, in milliseconds. */
const EXIT_TIME = 300_000;
/** Time limit of all `onExit` nodes together in a canceled run, in milliseconds. */
const EXIT_TIME_CANCELED = 10_000;

/**
 * Applies the steps of a run to its nodes, and propagates the effects. These classes work together when the events of a
 * log are applied:
 * - `RunState` reads the events of the log.
 * - `RunProgress` applies their steps.
 * - `EdgePropagation` resolves edges; `ScopeTree` holds the iterations.
 * - `Frontier` tracks what is ready, running, waiting and due; `planNext` reads it.
 */
export class RunProgress {
  readonly frontier: Frontier;
  readonly instances: Instances;
  readonly scopes: ScopeTree;
  readonly settlement: EdgePropagation;
  private readonly lists: Lists;
  private readonly damages = new Map<NodeInstance, FailurePropagation>();

  /** @param run object whose `error` is set to the first unhandled failure */
  constructor(
    private readonly graph: WorkflowGraph,
    private readonly run: { error?: RunError },
  ) {
    this.frontier = new Frontier(graph);
    const { sets, open } = this.frontier;
    this.instances = new Instances((node) => sets.setStatus(node, 'pending'));
    this.lists = new Lists(this.instances, sets, (id) => graph.node(id), {
      onListOver: (list) => open.set(list, 'list'),
      onEntryWithdrawn: (entry) => this.withdrawNode(entry),
      onListCanceled: (list) => this.cancelList(list),
    });
    this.settlement = new EdgePropagation(graph.regions, {
      onReady: (it) => this.admitUnit(it),
      onUnready: ({ node }) => node && sets.unmarkStartable(node),
      onSkipped: (it, because) => this.skipUnit(it, because),
      onWithdrawn: (it) => this.withdrawUnit(it),
      onIterationOver: (scope) => this.endIteration(scope),
      onUnhandled: (damage) => this.failRun(damage),
    });
    this.scopes = new ScopeTree(graph, this.instances);
    this.settlement.beginScope(this.scopes.root);
  }

  /** Starts the timer of the run's deadline, if it has one. @param at start of the run (ISO 8601) */
  acceptRun(at: string): void {
    const { deadline: text } = this.graph.definition;
    const deadline = text === undefined ? undefined : parseDuration(text);
    if (deadline !== undefined) this.frontier.timers.set('deadline', parseTimestamp(at) + deadline);
  }

  /** Starts an attempt of a node. @param at time of the start (ISO 8601) */
  beginAttempt(node: NodeInstance, at: string): void {
    this.resumeNode(node);
    delete node.waitsFor;
    this.frontier.clock.beginAttempt(node, at);
    this.frontier.sets.setStatus(node, 'running');
    if (node.each) this.frontier.open.set(node, 'items');
    else if (isOwn(node)) this.frontier.open.set(node, 'own');
  }

  /** Records that a Message is sent to the node's agent. @param at time of the Message (ISO 8601) */
  recordSent(node: NodeInstance, at: string): void {
    this.resumeNode(node);
    this.frontier.clock.startTimeout(node, at);
    this.frontier.sets.setStatus(node, 'running');
  }

  /** Records that the node's agent asks a question. @param at time of the question (ISO 8601) */
  recordQuestion(node: NodeInstance, at: string): void {
    this.resumeNode(node);
    this.frontier.clock.pauseForQuestion(node, at);
    this.frontier.sets.setStatus(node, 'input-required');
  }

  /**
   * Starts the timer of a question's deadline. Called when the run itself asks its caller the question
   * (`input.required`).
   */
  openQuestion(node: NodeInstance): void {
    if (node.status === 'input-required') this.frontier.clock.startQuestionTimer(node);
  }

  /** Makes a node wait until a time: the end of a `wait` node, or the next retry. */
  waitUntil(node: NodeInstance, waitsFor: NonNullable<NodeInstance['waitsFor']>): void {
    this.resumeNode(node);
    node.waitsFor = waitsFor;
    this.frontier.open.delete(node);
    this.frontier.clock.waitUntil(node, waitsFor.state === 'retry' ? 'retry' : 'wait', parseTimestamp(waitsFor.until));
    this.frontier.sets.setStatus(node, 'running');
  }

  /**
   * Completes a node.
   * @param taken indexes of the taken edges, if some edges had to be decided
   */
  completeNode(node: NodeInstance, taken?: readonly number[]): void {
    const unit = this.closeNode(node, 'completed', taken);
    if (unit) this.settlement.completeUnit(unit, taken && new Set(taken));
  }

  failNode(node: NodeInstance, error: RunError, taken?: readonly number[]): void {
    const isWithdrawn = this.frontier.sets.withdrawn.has(node);
    const unit = this.closeNode(node, 'failed', taken);
    if (unit === undefined) return;
    if (isWithdrawn) this.settlement.cancelUnit(unit, 'failed');
    else this.settlement.failUnit(unit, this.damageOf(node, error), taken && new Set(taken));
  }

  cancelNode(node: NodeInstance): void {
    const isWithdrawn = this.frontier.sets.withdrawn.has(node);
    const isEnding = this.frontier.isFailingFast || this.frontier.ending !== undefined;
    if (!isWithdrawn && !isEnding) this.frontier.isCancelBegun = true;
    const unit = this.closeNode(node, 'canceled');
    if (unit === undefined) return;
    if (isWithdrawn) this.settlement.cancelUnit(unit);
    else this.settlement.resetUnit(unit);
  }

  /** Starts the first entries of a node's list. */
  startItems(node: NodeInstance, items: readonly JsonValue[]): void {
    this.frontier.open.delete(node);
    this.lists.startList(node, items);
  }

  /**
   * Starts the next iteration of a loop.
   * @param at time of the start (ISO 8601); absent: at once
   */
  startIteration(place: LoopAddress, iteration: number, at: string | undefined): void {
    const run = this.scopes.findLoop(place);
    const scope = run && this.scopes.nextIteration(run, iteration);
    if (run === undefined || scope === undefined) return;
    this.frontier.open.delete(run);
    if (at !== undefined) scope.startsAt = parseTimestamp(at);
    this.settlement.beginScope(scope);
  }

  endLoop(place: LoopAddress, { reason, at, taken, failure }: LoopEnd): void {
    const run = this.scopes.findLoop(place);
    if (run?.loop === undefined || run.outcome !== undefined) return;
    this.frontier.open.delete(run);
    run.loop.reason = reason;
    const { from } = run.loop.loop;
    const node = failure && (run.inner?.latestOf(from)?.node ?? this.instances.nodes.get(from));
    if (failure && node?.status === 'completed') {
      node.failure = failure;
      node.error = failure.message;
      node.finishedAt = at;
      this.frontier.sets.setStatus(node, 'failed');
    }
    const damage = node && this.damageOf(node, { node: node.id, ...instanceOf(node), ...failure });
    this.settlement.endLoop(run, taken && new Set(taken), damage);
  }

  /** Marks skipped instances as recorded: the log now has a `node.skipped` event for them. */
  markReported(instances: readonly string[]): void {
    this.frontier.sets.markReported(instances);
  }

  /** Fails the run because its deadline has passed. */
  expireRun(error: RunError): void {
    this.frontier.isExpired = true;
    this.failRun({ error, isAbsorbed: false, isUnhandled: true });
  }

  /**
   * Makes the `onExit` nodes that fit the outcome ready to start, and skips the others, at the time `at` (ISO 8601).
   */
  beginEnding(outcome: EndingOutcome, at: string): void {
    this.frontier.ending = outcome;
    if (outcome === 'canceled') this.leaveOut('canceled', { at });
    this.frontier.timers.clear();
    this.frontier.open.clear();
    for (const [id, on] of this.graph.exits) {
      const node = this.instances.nodes.get(id);
      const isMeant = on === 'always' || (on === 'success' ? outcome === 'completed' : outcome === 'failed');
      if (node && isMeant) this.frontier.sets.markStartable(node);
      else if (node) this.frontier.sets.skipNode(node, 'off');
    }
    this.frontier.timers.set('exit', parseTimestamp(at) + (outcome === 'canceled' ? EXIT_TIME_CANCELED : EXIT_TIME));
  }

  /** Ends all remaining nodes when the run ends: running and waiting nodes are canceled, pending nodes skipped. */
  settleRun(at: string | undefined): void {
    const { pending, running, 'input-required': waiting } = this.frontier.sets.byStatus;
    for (const node of [...running, ...waiting]) {
      if (at !== undefined) node.finishedAt = at;
      this.frontier.clock.clear(node);
      this.frontier.sets.setStatus(node, 'canceled');
    }
    for (const node of [...pending]) this.frontier.sets.setStatus(node, 'skipped');
    this.frontier.timers.clear();
    this.frontier.open.clear();
  }

  /** Clears the earlier failure and outcome of a node that starts or resumes. */
  private resumeNode(node: NodeInstance): void {
    this.forgetDamage(node);
    const unit = this.scopes.unitOfInstance(node);
    if (unit) this.settlement.resetUnit(unit);
  }

  /**
   * Ends a node.
   * @returns the unit of the node (UnitState), if its end affects other nodes or loops
   */
  private closeNode(
    node: NodeInstance,
    status: 'completed' | 'failed' | 'canceled',
    taken?: readonly number[],
  ): UnitState | undefined {
    const { clock, open, sets } = this.frontier;
    this.forgetDamage(node);
    clock.clear(node);
    open.delete(node);
    delete node.waitsFor;
    if (taken) node.taken = taken;
    sets.setStatus(node, status);
    if (node.each) this.lists.finishList(node);
    if (node.list === undefined) return this.scopes.unitOfInstance(node);
    this.lists.recordEntryEnd(node);
    return undefined;
  }

  private damageOf(node: NodeInstance, error: RunError): FailurePropagation {
    const damage = { error, isAbsorbed: false, isUnhandled: false };
    this.damages.set(node, damage);
    return damage;
  }

  private forgetDamage(node: NodeInstance): void {
    const damage = this.damages.get(node);
    if (damage === undefined) return;
    this.damages.delete(node);
    this.frontier.unhandled.delete(damage);
  }

  private admitUnit(run: UnitState): void {
    const { node, scope, unit } = run;
    const startsAt = unit.incoming.length === 0 ? scope.startsAt : undefined;
    if (node) {
      if (startsAt === undefined) this.frontier.sets.markStartable(node);
      else this.frontier.clock.waitUntil(node, 'loop', startsAt);
      return;
    }
    const inner = this.scopes.openLoop(run);
    if (inner === undefined) return;
    if (startsAt !== undefined) inner.startsAt = startsAt;
    this.settlement.beginScope(inner);
  }

  private skipUnit(run: UnitState, because: SkipReason): void {
    for (const node of this.scopes.instancesOf(run)) this.skipNode(node, because);
  }

  private skipNode(node: NodeInstance, because: SkipReason): void {
    this.frontier.clock.clear(node);
    this.frontier.sets.skipNode(node, because);
  }

  /** Withdraws a running unit (a node or a loop), because its result is no longer needed. */
  private withdrawUnit(run: UnitState): void {
    const { node, inner } = run;
    run.isWithdrawn = true;
    if (node?.each) this.lists.withdrawList(node);
    else if (node) this.withdrawNode(node);
    if (inner === undefined) return;
    this.frontier.open.delete(run);
    for (const unit of inner.units) {
      if (unit.isPending) this.settlement.skipUnit(unit, 'canceled');
      else if (unit.outcome === undefined) this.withdrawUnit(unit);
    }
    if (inner.open === 0 && run.outcome === undefined) this.settlement.cancelUnit(run);
  }

  /** Stops scheduling a node that is no longer needed. Only the end of the node is recorded afterwards. */
  private withdrawNode(node: NodeInstance): void {
    this.frontier.open.delete(node);
    this.frontier.clock.clear(node);
    this.frontier.sets.withdrawn.add(node);
  }

  private endIteration({ around }: IterationScope): void {
    if (around?.isWithdrawn) this.settlement.cancelUnit(around);
    else if (around) this.frontier.open.set(around, 'loop');
  }

  private cancelList(list: NodeInstance): void {
    const unit = this.closeNode(list, 'canceled');
    if (unit) this.settlement.cancelUnit(unit);
  }

  /**
   * Records an unhandled failure of the run. Unless the workflow has `onFailure: "continue"`, everything that has not
   * started is skipped.
   */
  private failRun(damage: FailurePropagation): void {
    const { frontier, run } = this;
    frontier.unhandled.add(damage);
    run.error ??= damage.error;
    if (frontier.isFailingFast) this.leaveOut('failure', { damage });
  }

  /** Skips all nodes and loops that have not started, except `onExit` nodes. Lists start no further entry. */
  private leaveOut(because: SkipReason, { damage, at }: { damage?: FailurePropagation; at?: string }): void {
    const { sets } = this.frontier;
    for (const node of [...sets.byStatus.pending]) {
      if (this.graph.exits.has(node.id)) continue;
      this.skipNode(node, because);
      const unit = this.scopes.unitOfInstance(node);
      if (unit) Object.assign(unit, { outcome: 'skipped', ...(damage && { damage }) });
    }
    this.leaveOutLoops(this.scopes.root, because);
    for (const node of [...sets.byStatus.running]) {
      if (node.each === undefined) continue;
      if (at !== undefined) node.finishedAt = at;
      this.lists.withdrawList(node);
    }
  }

  /**
   * Marks loops that were not reached as skipped. Results from an earlier iteration of a surrounding loop no longer
   * count.
   */
  private leaveOutLoops(scope: IterationScope, because: SkipReason): void {
    for (const run of scope.units) {
      if (run.inner) this.leaveOutLoops(run.inner, because);
      else if (run.unit.inner && run.outcome === undefined) {
        for (const node of this.scopes.instancesOf(run)) if (node.status === 'pending') this.skipNode(node, because);
        run.outcome = 'skipped';
      }
    }
  }
}

/** Returns the member `instance` of an error; an empty object if the name of the instance is the id of the node. */
export function instanceOf({ id, instance }: NodeInstance): { instance?: string } {
  return instance === id ? {} : { instance };
}

/** State of a run that follows from its log alone. `RunState` implements it. */
export interface RunFacts {
  readonly definition: WorkflowDefinition;
  status: RunStatus;
  inputs: JsonObject;
  /** Newest instance of each node, by node id. */
  readonly nodes: ReadonlyMap<string, NodeInstance>;
  /** Returns the instance of this name, or the newest instance of the node with this id. */
  findInstance(instance: string): NodeInstance | undefined;
  readonly progress: RunProgress;
  error?: RunError;
  children?: CanceledChild[];
  /** Artifacts of the run, in the order of their recording. */
  readonly results: Artifact[];
  /** Newest Message to the run after the first one; absent if there was none. */
  received?: Message;
  /** True if the Message in `received` has not been forwarded to a node yet. */
  undelivered: boolean;
  /** True if `workflow.failed` was emitted. */
  failureReported: boolean;
  /** True if `run.nearly-full` was emitted. */
  isNearlyFull: boolean;
}
