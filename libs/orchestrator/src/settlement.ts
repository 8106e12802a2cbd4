import type { SkipReason } from './node-run.js';
import type { Regions, UnitEdge } from './regions.js';
import type { Damage, EdgeState, Scope, UnitRun } from './scope.js';

/** Receives the effects of decided edges. */
export interface SettlementListener {
  /** A unit may run. Called once for a loop, and for a node until it runs. */
  ready(run: UnitRun): void;
  /** A node that was ready must wait again. */
  unready(run: UnitRun): void;
  skipped(run: UnitRun, because: SkipReason): void;
  /** A running unit's result is not needed anymore. */
  withdrawn(run: UnitRun): void;
  /** All units of an iteration have ended. */
  over(scope: Scope): void;
  /** A failure has reached the end of the run. */
  unhandled(damage: Damage): void;
}

/** Propagates the end of a node along its outgoing edges. Cost is proportional to the edges resolved. */
export class Settlement {
  /** Number of edges visited, which measures the cost. */
  visits = 0;
  /** Units with a newly decided incoming edge, and the failure that broke it. */
  private readonly touched: { run: UnitRun; damage?: Damage }[] = [];
  /** Failures that have reached the end of the run; reported after all edges are decided. */
  private readonly ends: Damage[] = [];
  private isDraining = false;

  constructor(
    private readonly regions: Regions,
    private readonly listener: SettlementListener,
  ) {}

  /** Starts an iteration: units without incoming edges become ready. */
  begin(scope: Scope): void {
    for (const run of scope.units) if (isReady(run)) this.touched.push({ run });
    this.drain();
  }

  /**
   * Completes a unit.
   * @param taken edges that are taken, if some had to be decided
   */
  complete(run: UnitRun, taken?: ReadonlySet<number>): void {
    this.finish(run, 'completed');
    for (const edge of run.unit.outgoing) {
      this.settle(run.scope, edge, isTaken(edge, 'completed', taken) ? 'live' : 'off');
    }
    this.drain();
  }

  /** Fails a unit. An edge for failures that is taken handles the failure, even if it leads out of a loop. */
  fail(run: UnitRun, damage: Damage, taken?: ReadonlySet<number>): void {
    this.finish(run, 'failed');
    const { outgoing, leaving } = run.unit;
    const exits = leaving.filter((edge) => isTaken(edge, 'failed', taken));
    const isHandled = exits.length > 0 || outgoing.some((edge) => isTaken(edge, 'failed', taken));
    for (const edge of exits) leaveBy(edge, run.scope);
    for (const edge of outgoing) {
      if (isForSuccess(edge)) this.settle(run.scope, edge, isHandled ? 'off' : 'broken', damage);
      else this.settle(run.scope, edge, isTaken(edge, 'failed', taken) ? 'live' : 'off');
    }
    if (!isHandled) this.damaged(run, damage);
    this.drain();
    if (!isHandled && !damage.isAbsorbed) this.reachEnd(damage);
  }

  /** Ends a unit that was running when its result was no longer needed, whatever its outcome. */
  cancel(run: UnitRun, outcome: 'canceled' | 'failed' = 'canceled'): void {
    this.finish(run, outcome);
    for (const edge of run.unit.outgoing) this.settle(run.scope, edge, 'off');
    this.drain();
  }

  skip(run: UnitRun, because: SkipReason, damage?: Damage): void {
    this.finish(run, 'skipped');
    this.listener.skipped(run, because);
    for (const edge of run.unit.outgoing) this.settle(run.scope, edge, damage ? 'broken' : 'off', damage);
    if (damage) this.damaged(run, damage);
    this.drain();
  }

  /** Resets a unit that starts again: its earlier outcome no longer counts. */
  reopen(run: UnitRun): void {
    if (run.outcome === undefined) return;
    delete run.outcome;
    delete run.damage;
    run.scope.open += 1;
    for (const edge of run.unit.outgoing) this.settle(run.scope, edge, 'undecided');
    this.drain();
  }

  /**
   * Ends a loop. Each outgoing edge follows the latest outcome of its source.
   * @param failure of the loop's last node, if the loop itself fails
   */
  endLoop(run: UnitRun, taken?: ReadonlySet<number>, failure?: Damage): void {
    const { inner, loop, scope } = run;
    if (inner === undefined || loop === undefined) return;
    const isHandled = failure !== undefined && this.failLast(run, inner, failure, taken);
    for (const edge of run.unit.outgoing) {
      const source = inner.last(edge.from);
      if (source === undefined || scope.state(edge) !== 'undecided') continue;
      this.settle(scope, edge, stateAfter(source, edge, taken), source.damage);
    }
    this.finish(run, loop.reason === 'failure' || failure ? 'failed' : 'completed');
    if (failure && !isHandled && !leadsOut(run, failure)) this.stopAt(run, failure);
    this.drain();
    if (failure && !isHandled && !failure.isAbsorbed) this.reachEnd(failure);
  }

  /** @returns true if an edge handles the failure */
  private failLast(run: UnitRun, inner: Scope, failure: Damage, taken: ReadonlySet<number> | undefined): boolean {
    const last = inner.last(inner.region.loop?.from ?? '');
    if (last === undefined) return false;
    const exits = last.unit.leaving.filter((edge) => isTaken(edge, 'failed', taken));
    for (const edge of exits) leaveBy(edge, run.scope);
    last.outcome = 'failed';
    delete last.damage;
    if (exits.length === 0) last.damage = failure;
    return exits.length > 0;
  }

  private damaged(run: UnitRun, damage: Damage): void {
    run.damage = damage;
    for (const edge of run.unit.leaving) this.breakOutside(run, edge, damage);
    if (run.unit.outgoing.every((edge) => run.scope.state(edge) !== 'broken')) this.stopAt(run, damage);
  }

  /** Handles a failure that no outgoing edge passes on. */
  private stopAt({ scope }: UnitRun, damage: Damage): void {
    if (scope.around === undefined) this.reachEnd(damage);
    else this.doom(scope, scope.around, damage);
  }

  /** Fails an iteration. Edges out of the loop whose source has failed break now. */
  private doom(scope: Scope, around: UnitRun, damage: Damage): void {
    scope.doom ??= damage;
    for (const edge of around.unit.outgoing) {
      const source = scope.last(edge.from);
      if (source?.damage) this.settle(around.scope, edge, stateAfter(source, edge), source.damage);
    }
    if (!leadsOut(around, damage)) this.stopAt(around, damage);
  }

  /** Breaks an edge that leads out of loops, once all of these loops have failed. */
  private breakOutside(run: UnitRun, edge: UnitEdge, damage: Damage): void {
    let { scope } = run;
    while (scope.region !== edge.region) {
      if (scope.doom === undefined || scope.around === undefined) return;
      scope = scope.around.scope;
    }
    this.settle(scope, edge, stateAfter(run, edge), damage);
  }

  private reachEnd(damage: Damage): void {
    if (damage.isUnhandled) return;
    damage.isUnhandled = true;
    this.ends.push(damage);
    this.drain();
  }

  private finish(run: UnitRun, outcome: NonNullable<UnitRun['outcome']>): void {
    const { scope } = run;
    if (run.outcome === undefined) scope.open -= 1;
    run.outcome = outcome;
    delete run.damage;
    if (scope.open === 0) this.listener.over(scope);
  }

  private settle(scope: Scope, edge: UnitEdge, state: EdgeState, damage?: Damage): void {
    this.visits += 1;
    const broke = state === 'broken' ? damage : undefined;
    if (scope.settle(edge, state, broke))
      this.touched.push({ run: scope.run(edge.target), ...(broke && { damage: broke }) });
  }

  private drain(): void {
    if (this.isDraining) return;
    this.isDraining = true;
    for (const { run, damage } of this.touched) {
      if (run.isPending) this.join(run, damage);
      else if (damage) this.meet(run, damage);
    }
    this.touched.length = 0;
    this.isDraining = false;
    for (const damage of this.ends.splice(0)) this.listener.unhandled(damage);
  }

  /** Decides whether a pending unit may run, must wait, or is skipped. */
  private join(run: UnitRun, damage: Damage | undefined): void {
    const reason = skipReason(run);
    if (reason) {
      this.skip(run, reason, run.broken > 0 ? run.firstDamage : undefined);
      return;
    }
    if (isReady(run)) this.admit(run);
    else this.listener.unready(run);
    if (damage) damage.isAbsorbed = true;
  }

  private admit(run: UnitRun): void {
    const isFirst = !run.isReached;
    run.isReached = true;
    this.listener.ready(run);
    if (!isFirst || !run.unit.cancelsRest) return;
    for (const unit of this.regions.onlyBefore(run.unit)) {
      const other = run.scope.run(unit);
      if (other.isPending) this.skip(other, 'canceled');
      else if (other.outcome === undefined) this.listener.withdrawn(other);
    }
  }

  /** Propagates a failure to a unit that has begun or was skipped. */
  private meet(run: UnitRun, damage: Damage): void {
    if (run.outcome === 'skipped' && run.damage?.isUnhandled) this.reachEnd(damage);
    else if (run.outcome === 'skipped' || run.unit.needed !== undefined) damage.isAbsorbed = true;
    // Only in a hand-made log: the unit began before its predecessors had ended.
    else this.passOn(run, damage);
  }

  private passOn(run: UnitRun, damage: Damage): void {
    const { outgoing } = run.unit;
    for (const edge of outgoing) this.settle(run.scope, edge, 'broken', damage);
    if (outgoing.length === 0) this.stopAt(run, damage);
  }
}

/**
 * Returns the reason to skip a unit. Skipping waits until the reason can no longer change, so that it does not depend
 * on the order of events.
 */
function skipReason({ unit, undecided, live, broken }: UnitRun): SkipReason | undefined {
  const { needed, incoming } = unit;
  const isSure = broken > 0 || undecided === 0;
  if (incoming.length === 0 || !isSure) return undefined;
  if (needed !== undefined) return live + undecided < needed ? 'out-of-reach' : undefined;
  if (broken > 0) return 'broken';
  return live === 0 ? 'off' : undefined;
}

function isReady({ unit, undecided, live }: UnitRun): boolean {
  const { needed, incoming } = unit;
  return incoming.length === 0 || (needed === undefined ? undecided === 0 : live >= needed);
}

/** True if a failure in a loop breaks an edge out of it. */
function leadsOut({ unit, inner }: UnitRun, damage: Damage): boolean {
  return unit.outgoing.some((edge) => {
    const source = inner?.last(edge.from);
    return source?.damage === damage && stateAfter(source, edge) === 'broken';
  });
}

/** Marks the iterations that an edge out of loops leaves: it handles a failure and ends them. */
function leaveBy(edge: UnitEdge, from: Scope): void {
  for (let scope: Scope | undefined = from; scope && scope.region !== edge.region; scope = scope.around?.scope)
    scope.isLeft = true;
}

/** Returns the state of an edge after its source has ended. */
function stateAfter(source: UnitRun, edge: UnitEdge, taken?: ReadonlySet<number>): EdgeState {
  const { outcome, damage } = source;
  if (outcome === 'completed') return isTaken(edge, 'completed', taken) ? 'live' : 'off';
  if (outcome === 'failed' && !isForSuccess(edge)) return isTaken(edge, 'failed', taken) ? 'live' : 'off';
  return damage ? 'broken' : 'off';
}

function isForSuccess({ edge: { on = 'success' } }: UnitEdge): boolean {
  return on === 'success';
}

function isTaken(
  { index, isChosen, edge: { on = 'success', when } }: UnitEdge,
  outcome: 'completed' | 'failed',
  taken: ReadonlySet<number> | undefined,
): boolean {
  const isMeant = on === 'always' || (on === 'success') === (outcome === 'completed');
  return isMeant && (isChosen && taken ? taken.has(index) : when === undefined);
}
