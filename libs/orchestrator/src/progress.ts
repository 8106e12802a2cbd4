import { durationOf } from '#libs/expressions';
import type { JsonValue } from '#libs/protocol';
import type { Failure } from './failure.js';
import { Frontier } from './frontier.js';
import { Instances } from './instances.js';
import { Lists } from './lists.js';
import type { LoopReason } from './loop-run.js';
import { timeOf } from './node-clock.js';
import type { NodeRun, RunError, SkipReason } from './node-run.js';
import { isOwn } from './node-sets.js';
import type { EndingOutcome } from './plan.js';
import type { Damage, Scope, UnitRun } from './scope.js';
import { type LoopPlace, Scopes } from './scopes.js';
import { Settlement } from './settlement.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** Data of a `loop.ended` event. */
export interface LoopEnd {
  reason: LoopReason;
  at: string;
  taken?: readonly number[];
  failure?: Failure;
}

/** Milliseconds for all `onExit` nodes together, and after a cancel. */
const EXIT_TIME = 300_000;
const EXIT_TIME_CANCELED = 10_000;

/** Applies the events of a run to its nodes and propagates the effects. The state follows from the log alone. */
export class Progress {
  readonly frontier: Frontier;
  readonly instances: Instances;
  readonly scopes: Scopes;
  readonly settlement: Settlement;
  private readonly lists: Lists;
  private readonly damages = new Map<NodeRun, Damage>();

  /** @param run receives the first unhandled failure */
  constructor(
    private readonly graph: WorkflowGraph,
    private readonly run: { error?: RunError },
  ) {
    this.frontier = new Frontier(graph);
    const { sets, open } = this.frontier;
    this.instances = new Instances((node) => sets.move(node, 'pending'));
    this.lists = new Lists(this.instances, sets, (id) => graph.node(id), {
      over: (list) => open.set(list, 'list'),
      withdrawn: (entry) => this.withdrawNode(entry),
      canceled: (list) => this.cancelList(list),
    });
    this.settlement = new Settlement(graph.regions, {
      ready: (it) => this.ready(it),
      unready: ({ node }) => node && sets.dismiss(node),
      skipped: (it, because) => this.skipped(it, because),
      withdrawn: (it) => this.withdraw(it),
      over: (scope) => this.over(scope),
      unhandled: (damage) => this.strike(damage),
    });
    this.scopes = new Scopes(graph, this.instances);
    this.settlement.begin(this.scopes.root);
  }

  /** Starts the deadline of the run. */
  accept(at: string): void {
    const deadline = durationOf(this.graph.definition.deadline);
    if (deadline !== undefined) this.frontier.timers.set('deadline', timeOf(at) + deadline);
  }

  /** Starts an attempt of a node. */
  begin(node: NodeRun, at: string): void {
    this.resume(node);
    delete node.waitsFor;
    this.frontier.clock.begin(node, at);
    this.frontier.sets.move(node, 'running');
    if (node.each) this.frontier.open.set(node, 'items');
    else if (isOwn(node)) this.frontier.open.set(node, 'own');
  }

  /** Records that a Message is sent to the node's agent. */
  send(node: NodeRun, at: string): void {
    this.resume(node);
    this.frontier.clock.send(node, at);
    this.frontier.sets.move(node, 'running');
  }

  /** Records that the node's agent asks a question. */
  ask(node: NodeRun, at: string): void {
    this.resume(node);
    this.frontier.clock.ask(node, at);
    this.frontier.sets.move(node, 'input-required');
  }

  /** Starts the deadline of a question, once the run itself asks it. */
  open(node: NodeRun): void {
    if (node.status === 'input-required') this.frontier.clock.open(node);
  }

  /** Makes a node wait until a time. */
  wait(node: NodeRun, waitsFor: NonNullable<NodeRun['waitsFor']>): void {
    this.resume(node);
    node.waitsFor = waitsFor;
    this.frontier.open.delete(node);
    this.frontier.clock.wait(node, waitsFor.state === 'retry' ? 'retry' : 'wait', timeOf(waitsFor.until));
    this.frontier.sets.move(node, 'running');
  }

  /** @param taken edges that are taken, if some had to be decided */
  complete(node: NodeRun, taken?: readonly number[]): void {
    const unit = this.close(node, 'completed', taken);
    if (unit) this.settlement.complete(unit, taken && new Set(taken));
  }

  fail(node: NodeRun, error: RunError, taken?: readonly number[]): void {
    const isWithdrawn = this.frontier.sets.withdrawn.has(node);
    const unit = this.close(node, 'failed', taken);
    if (unit === undefined) return;
    if (isWithdrawn) this.settlement.cancel(unit, 'failed');
    else this.settlement.fail(unit, this.damageOf(node, error), taken && new Set(taken));
  }

  cancel(node: NodeRun): void {
    const isWithdrawn = this.frontier.sets.withdrawn.has(node);
    if (!isWithdrawn && !this.frontier.isStruck && this.frontier.ending === undefined)
      this.frontier.isCancelBegun = true;
    const unit = this.close(node, 'canceled');
    if (unit === undefined) return;
    if (isWithdrawn) this.settlement.cancel(unit);
    else this.settlement.reopen(unit);
  }

  /** Starts the entries of a node's list. */
  startItems(node: NodeRun, items: readonly JsonValue[]): void {
    this.frontier.open.delete(node);
    this.lists.start(node, items);
  }

  /**
   * Starts the next iteration of a loop.
   * @param at its start (ISO 8601); absent: at once
   */
  iterate(place: LoopPlace, iteration: number, at: string | undefined): void {
    const run = this.scopes.loop(place);
    const scope = run && this.scopes.next(run, iteration);
    if (run === undefined || scope === undefined) return;
    this.frontier.open.delete(run);
    if (at !== undefined) scope.startsAt = timeOf(at);
    this.settlement.begin(scope);
  }

  endLoop(place: LoopPlace, { reason, at, taken, failure }: LoopEnd): void {
    const run = this.scopes.loop(place);
    if (run?.loop === undefined || run.outcome !== undefined) return;
    this.frontier.open.delete(run);
    run.loop.reason = reason;
    const { from } = run.loop.loop;
    const node = failure && (run.inner?.last(from)?.node ?? this.instances.nodes.get(from));
    if (failure && node?.status === 'completed') {
      node.failure = failure;
      node.error = failure.message;
      node.finishedAt = at;
      this.frontier.sets.move(node, 'failed');
    }
    const damage = node && this.damageOf(node, { node: node.id, ...instanceOf(node), ...failure });
    this.settlement.endLoop(run, taken && new Set(taken), damage);
  }

  /** Removes skips that were reported. */
  reported(instances: readonly string[]): void {
    this.frontier.sets.reported(instances);
  }

  /** Fails the run because its deadline has passed. */
  expire(error: RunError): void {
    this.frontier.isExpired = true;
    this.strike({ error, isAbsorbed: false, isUnhandled: true });
  }

  /** Starts the `onExit` nodes that apply to the outcome. */
  beginEnding(outcome: EndingOutcome, at: string): void {
    this.frontier.ending = outcome;
    if (outcome === 'canceled') this.leaveOut('canceled', { at });
    this.frontier.timers.clear();
    this.frontier.open.clear();
    for (const [id, on] of this.graph.exits) {
      const node = this.instances.nodes.get(id);
      const isMeant = on === 'always' || (on === 'success' ? outcome === 'completed' : outcome === 'failed');
      if (node && isMeant) this.frontier.sets.admit(node);
      else if (node) this.frontier.sets.skip(node, 'off');
    }
    this.frontier.timers.set('exit', timeOf(at) + (outcome === 'canceled' ? EXIT_TIME_CANCELED : EXIT_TIME));
  }

  /** Ends all remaining nodes with the run: active ones are canceled, pending ones skipped. */
  settle(at: string | undefined): void {
    const { pending, running, 'input-required': waiting } = this.frontier.sets.byStatus;
    for (const node of [...running, ...waiting]) {
      if (at !== undefined) node.finishedAt = at;
      this.frontier.clock.clear(node);
      this.frontier.sets.move(node, 'canceled');
    }
    for (const node of [...pending]) this.frontier.sets.move(node, 'skipped');
    this.frontier.timers.clear();
    this.frontier.open.clear();
  }

  /** Clears the previous result when a node starts or resumes. */
  private resume(node: NodeRun): void {
    this.forgetDamage(node);
    const unit = this.scopes.of(node);
    if (unit) this.settlement.reopen(unit);
  }

  /** @returns the unit of the node, if its end affects others */
  private close(
    node: NodeRun,
    status: 'completed' | 'failed' | 'canceled',
    taken?: readonly number[],
  ): UnitRun | undefined {
    const { clock, open, sets } = this.frontier;
    this.forgetDamage(node);
    clock.clear(node);
    open.delete(node);
    delete node.waitsFor;
    if (taken) node.taken = taken;
    sets.move(node, status);
    if (node.each) this.lists.finish(node);
    if (node.list === undefined) return this.scopes.of(node);
    this.lists.ended(node);
    return undefined;
  }

  private damageOf(node: NodeRun, error: RunError): Damage {
    const damage = { error, isAbsorbed: false, isUnhandled: false };
    this.damages.set(node, damage);
    return damage;
  }

  private forgetDamage(node: NodeRun): void {
    const damage = this.damages.get(node);
    if (damage === undefined) return;
    this.damages.delete(node);
    this.frontier.unhandled.delete(damage);
  }

  private ready(run: UnitRun): void {
    const { node, scope, unit } = run;
    const startsAt = unit.incoming.length === 0 ? scope.startsAt : undefined;
    if (node) {
      if (startsAt === undefined) this.frontier.sets.admit(node);
      else this.frontier.clock.wait(node, 'loop', startsAt);
      return;
    }
    const inner = this.scopes.open(run);
    if (inner === undefined) return;
    if (startsAt !== undefined) inner.startsAt = startsAt;
    this.settlement.begin(inner);
  }

  private skipped(run: UnitRun, because: SkipReason): void {
    for (const node of this.scopes.instancesOf(run)) this.skip(node, because);
  }

  private skip(node: NodeRun, because: SkipReason): void {
    this.frontier.clock.clear(node);
    this.frontier.sets.skip(node, because);
  }

  /** Withdraws a running unit whose result is not needed anymore. */
  private withdraw(run: UnitRun): void {
    const { node, inner } = run;
    run.isWithdrawn = true;
    if (node?.each) this.lists.withdraw(node);
    else if (node) this.withdrawNode(node);
    if (inner === undefined) return;
    this.frontier.open.delete(run);
    for (const unit of inner.units) {
      if (unit.isPending) this.settlement.skip(unit, 'canceled');
      else if (unit.outcome === undefined) this.withdraw(unit);
    }
    if (inner.open === 0 && run.outcome === undefined) this.settlement.cancel(run);
  }

  /** Removes a node from scheduling; only its end is still recorded. */
  private withdrawNode(node: NodeRun): void {
    this.frontier.open.delete(node);
    this.frontier.clock.clear(node);
    this.frontier.sets.withdrawn.add(node);
  }

  private over({ around }: Scope): void {
    if (around?.isWithdrawn) this.settlement.cancel(around);
    else if (around) this.frontier.open.set(around, 'loop');
  }

  private cancelList(list: NodeRun): void {
    const unit = this.close(list, 'canceled');
    if (unit) this.settlement.cancel(unit);
  }

  /** Records an unhandled failure of the run. */
  private strike(damage: Damage): void {
    const { frontier, run } = this;
    frontier.unhandled.add(damage);
    run.error ??= damage.error;
    if (frontier.isStruck) this.leaveOut('failure', { damage });
  }

  /** Skips everything that has not started, except `onExit` nodes. */
  private leaveOut(because: SkipReason, { damage, at }: { damage?: Damage; at?: string }): void {
    const { sets } = this.frontier;
    for (const node of [...sets.byStatus.pending]) {
      if (this.graph.exits.has(node.id)) continue;
      this.skip(node, because);
      const unit = this.scopes.of(node);
      if (unit) Object.assign(unit, { outcome: 'skipped', ...(damage && { damage }) });
    }
    this.leaveOutLoops(this.scopes.root, because);
    for (const node of [...sets.byStatus.running]) {
      if (node.each === undefined) continue;
      if (at !== undefined) node.finishedAt = at;
      this.lists.withdraw(node);
    }
  }

  /** Skips loops that were not reached: their results from an earlier surrounding iteration no longer count. */
  private leaveOutLoops(scope: Scope, because: SkipReason): void {
    for (const run of scope.units) {
      if (run.inner) this.leaveOutLoops(run.inner, because);
      else if (run.unit.inner && run.outcome === undefined) {
        for (const node of this.scopes.instancesOf(run)) if (node.status === 'pending') this.skip(node, because);
        run.outcome = 'skipped';
      }
    }
  }
}

/** Returns the instance name for an error; empty if it is the node's only instance. */
export function instanceOf({ id, instance }: NodeRun): { instance?: string } {
  return instance === id ? {} : { instance };
}
