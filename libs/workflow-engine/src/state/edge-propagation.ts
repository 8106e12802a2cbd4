import type { GraphEdge, Regions, UnitEdge, WorkflowGraph } from '#libs/workflow-definition';
import type { NodeInstance, SkipReason } from './node-instance.js';
import type { EdgeState, FailurePropagation, IterationScope, UnitState } from './scope-tree.js';

/** Receives the effects that resolved edges have on units (nodes and whole loops). */
export interface PropagationListener {
  /**
   * Called when a unit (a node or a loop) may run: once for a loop; for a node possibly several times before it starts.
   */
  onReady(run: UnitState): void;
  /** Called when a node that was ready must wait again. */
  onUnready(run: UnitState): void;
  onSkipped(run: UnitState, because: SkipReason): void;
  /** Called when a unit (a node or a loop) is running and its result is no longer needed. */
  onWithdrawn(run: UnitState): void;
  /** Called when all units (nodes and loops) of an iteration, or of the whole workflow, have ended. */
  onIterationOver(scope: IterationScope): void;
  /** Called when a failure has reached the end of the run and no edge has handled it. */
  onUnhandled(damage: FailurePropagation): void;
}

/**
 * Propagates the end of a unit (a node or a whole loop) along its outgoing edges: resolves their states, and decides
 * which units become ready, are skipped or fail. `RunProgress` calls it for each event. Cost is proportional to the
 * number of resolved edges.
 */
export class EdgePropagation {
  /** Number of resolved edges, as a measure of the cost. */
  visits = 0;
  /** Units (nodes and loops) with a newly resolved incoming edge, and the failure that broke that edge, if any. */
  private readonly touched: { run: UnitState; damage?: FailurePropagation }[] = [];
  /** Failures that have reached the end of the run. They are reported after all edges are resolved. */
  private readonly ends: FailurePropagation[] = [];
  private isDraining = false;

  constructor(
    private readonly regions: Regions,
    private readonly listener: PropagationListener,
  ) {}

  /** Starts an iteration: its units (nodes and inner loops) without incoming edges become ready. */
  beginScope(scope: IterationScope): void {
    for (const run of scope.units) if (isReady(run)) this.touched.push({ run });
    this.flushResolved();
  }

  /**
   * Completes a unit (a node or a loop).
   * @param taken indexes of the taken edges, if some edges had to be decided
   */
  completeUnit(run: UnitState, taken?: ReadonlySet<number>): void {
    this.finishUnit(run, 'completed');
    for (const edge of run.unit.outgoing) {
      this.resolveEdge(run.scope, edge, isEdgeTaken(edge, 'completed', taken) ? 'live' : 'off');
    }
    this.flushResolved();
  }

  /**
   * Fails a unit (a node or a loop) with the failure `damage`. A taken edge with `on: "failure"` or `"always"` handles
   * the failure, even if the edge leads out of a loop.
   * @param taken indexes of the taken edges, if some edges had to be decided
   */
  failUnit(run: UnitState, damage: FailurePropagation, taken?: ReadonlySet<number>): void {
    this.finishUnit(run, 'failed');
    const { outgoing, leaving } = run.unit;
    const exits = leaving.filter((edge) => isEdgeTaken(edge, 'failed', taken));
    const isHandled = exits.length > 0 || outgoing.some((edge) => isEdgeTaken(edge, 'failed', taken));
    for (const edge of exits) leaveBy(edge, run.scope);
    for (const edge of outgoing) {
      if (isForSuccess(edge)) this.resolveEdge(run.scope, edge, isHandled ? 'off' : 'broken', damage);
      else this.resolveEdge(run.scope, edge, isEdgeTaken(edge, 'failed', taken) ? 'live' : 'off');
    }
    if (!isHandled) this.markFailed(run, damage);
    this.flushResolved();
    if (!isHandled && !damage.isAbsorbed) this.reachEnd(damage);
  }

  /**
   * Ends a unit (a node or a loop) that was running when its result was no longer needed. The unit's outgoing edges are
   * not taken, whatever the outcome.
   */
  cancelUnit(run: UnitState, outcome: 'canceled' | 'failed' = 'canceled'): void {
    this.finishUnit(run, outcome);
    for (const edge of run.unit.outgoing) this.resolveEdge(run.scope, edge, 'off');
    this.flushResolved();
  }

  /**
   * Skips a unit (a node or a loop).
   * @param damage unhandled failure because of which the unit is skipped: the unit's outgoing edges then break; if
   *   absent, the edges are not taken
   */
  skipUnit(run: UnitState, because: SkipReason, damage?: FailurePropagation): void {
    this.finishUnit(run, 'skipped');
    this.listener.onSkipped(run, because);
    for (const edge of run.unit.outgoing) this.resolveEdge(run.scope, edge, damage ? 'broken' : 'off', damage);
    if (damage) this.markFailed(run, damage);
    this.flushResolved();
  }

  /**
   * Resets the unit of a node that starts again: removes its earlier outcome, and its outgoing edges become undecided.
   */
  resetUnit(run: UnitState): void {
    if (run.outcome === undefined) return;
    delete run.outcome;
    delete run.damage;
    run.scope.open += 1;
    for (const edge of run.unit.outgoing) this.resolveEdge(run.scope, edge, 'undecided');
    this.flushResolved();
  }

  /**
   * Ends a loop. Each outgoing edge of the loop follows the latest outcome of its source node.
   * @param taken indexes of the taken edges out of the loop, if some edges had to be decided
   * @param failure failure of the loop's last node, if the loop itself fails
   */
  endLoop(run: UnitState, taken?: ReadonlySet<number>, failure?: FailurePropagation): void {
    const { inner, loop, scope } = run;
    if (inner === undefined || loop === undefined) return;
    const isHandled = failure !== undefined && this.failLast(run, inner, failure, taken);
    const unhandled = isHandled ? undefined : failure;
    for (const edge of run.unit.outgoing) {
      const source = inner.latestOf(edge.from);
      if (source === undefined || scope.edgeState(edge) !== 'undecided') continue;
      this.resolveEdge(scope, edge, stateAfter(source, edge, taken), source.damage);
    }
    this.finishUnit(run, loop.reason === 'failure' || failure ? 'failed' : 'completed');
    if (unhandled && !leadsOut(run, unhandled)) this.stopAt(run, unhandled);
    this.flushResolved();
    if (unhandled && !unhandled.isAbsorbed) this.reachEnd(unhandled);
  }

  /**
   * Fails the last node of a loop because the loop itself fails, for example by `on_max: "fail"`.
   * @returns true if an edge out of the loop handles the failure
   */
  private failLast(
    run: UnitState,
    inner: IterationScope,
    failure: FailurePropagation,
    taken: ReadonlySet<number> | undefined,
  ): boolean {
    const last = inner.latestOf(inner.region.loop?.from ?? '');
    if (last === undefined) return false;
    const exits = last.unit.leaving.filter((edge) => isEdgeTaken(edge, 'failed', taken));
    for (const edge of exits) leaveBy(edge, run.scope);
    last.outcome = 'failed';
    delete last.damage;
    if (exits.length === 0) last.damage = failure;
    return exits.length > 0;
  }

  private markFailed(run: UnitState, damage: FailurePropagation): void {
    run.damage = damage;
    for (const edge of run.unit.leaving) this.breakOutside(run, edge, damage);
    if (run.unit.outgoing.every((edge) => run.scope.edgeState(edge) !== 'broken')) this.stopAt(run, damage);
  }

  /**
   * Ends the propagation of a failure that no outgoing edge passes on. In a loop, the surrounding iteration fails.
   * Outside of loops, the failure is recorded as having reached the end of the run.
   */
  private stopAt({ scope }: UnitState, damage: FailurePropagation): void {
    if (scope.around === undefined) this.reachEnd(damage);
    else this.failIteration(scope, scope.around, damage);
  }

  /** Fails an iteration of a loop. Breaks the edges that lead from a failed node of the iteration out of the loop. */
  private failIteration(scope: IterationScope, around: UnitState, damage: FailurePropagation): void {
    scope.doom ??= damage;
    for (const edge of around.unit.outgoing) {
      const source = scope.latestOf(edge.from);
      if (source?.damage) this.resolveEdge(around.scope, edge, stateAfter(source, edge), source.damage);
    }
    if (!leadsOut(around, damage)) this.stopAt(around, damage);
  }

  /** Breaks an edge that leads out of one or more loops, if the current iterations of all these loops have failed. */
  private breakOutside(run: UnitState, edge: UnitEdge, damage: FailurePropagation): void {
    let { scope } = run;
    while (scope.region !== edge.region) {
      if (scope.doom === undefined || scope.around === undefined) return;
      scope = scope.around.scope;
    }
    this.resolveEdge(scope, edge, stateAfter(run, edge), damage);
  }

  private reachEnd(damage: FailurePropagation): void {
    if (damage.isUnhandled) return;
    damage.isUnhandled = true;
    this.ends.push(damage);
    this.flushResolved();
  }

  private finishUnit(run: UnitState, outcome: NonNullable<UnitState['outcome']>): void {
    const { scope } = run;
    if (run.outcome === undefined) scope.open -= 1;
    run.outcome = outcome;
    delete run.damage;
    if (scope.open === 0) this.listener.onIterationOver(scope);
  }

  private resolveEdge(scope: IterationScope, edge: UnitEdge, state: EdgeState, damage?: FailurePropagation): void {
    this.visits += 1;
    const broke = state === 'broken' ? damage : undefined;
    if (scope.setEdgeState(edge, state, broke))
      this.touched.push({ run: scope.stateOfUnit(edge.target), ...(broke && { damage: broke }) });
  }

  private flushResolved(): void {
    if (this.isDraining) return;
    this.isDraining = true;
    for (const { run, damage } of this.touched) {
      if (run.isPending) this.evaluateJoin(run, damage);
      else if (damage) this.propagateFailureTo(run, damage);
    }
    this.touched.length = 0;
    this.isDraining = false;
    for (const damage of this.ends.splice(0)) this.listener.onUnhandled(damage);
  }

  /**
   * Evaluates the `join` of a unit (a node or a loop) that has not begun. The unit becomes ready, keeps waiting, or is
   * skipped. If it is not skipped, the failure `damage` of a broken edge ends here.
   */
  private evaluateJoin(run: UnitState, damage: FailurePropagation | undefined): void {
    const reason = skipReason(run);
    if (reason) {
      this.skipUnit(run, reason, run.broken > 0 ? run.firstDamage : undefined);
      return;
    }
    if (isReady(run)) this.admitUnit(run);
    else this.listener.onUnready(run);
    if (damage) damage.isAbsorbed = true;
  }

  private admitUnit(run: UnitState): void {
    const isFirst = !run.isReached;
    run.isReached = true;
    this.listener.onReady(run);
    if (!isFirst || !run.unit.cancelsRest) return;
    for (const unit of this.regions.onlyBefore(run.unit)) {
      const other = run.scope.stateOfUnit(unit);
      if (other.isPending) this.skipUnit(other, 'canceled');
      else if (other.outcome === undefined) this.listener.onWithdrawn(other);
    }
  }

  /**
   * Handles a broken edge to a unit (a node or a loop) that has already begun or been skipped. The failure of the edge
   * ends there (`isAbsorbed`), with one exception: if the unit was skipped because of another unhandled failure, the
   * failure of the edge also reaches the end of the run.
   */
  private propagateFailureTo(run: UnitState, damage: FailurePropagation): void {
    if (run.outcome === 'skipped' && run.damage?.isUnhandled) this.reachEnd(damage);
    else if (run.outcome === 'skipped' || run.unit.needed !== undefined) damage.isAbsorbed = true;
    // This happens only in a hand-made log: the unit began before its predecessors had ended.
    else this.breakOutgoing(run, damage);
  }

  private breakOutgoing(run: UnitState, damage: FailurePropagation): void {
    const { outgoing } = run.unit;
    for (const edge of outgoing) this.resolveEdge(run.scope, edge, 'broken', damage);
    if (outgoing.length === 0) this.stopAt(run, damage);
  }
}

/**
 * Returns the reason to skip a unit (a node or a loop); `undefined` as long as the unit may run or the reason may still
 * change. So the result does not depend on the order of events.
 */
function skipReason({ unit, undecided, live, broken }: UnitState): SkipReason | undefined {
  const { needed, incoming } = unit;
  const isSure = broken > 0 || undecided === 0;
  if (incoming.length === 0 || !isSure) return undefined;
  if (needed !== undefined) return live + undecided < needed ? 'out-of-reach' : undefined;
  if (broken > 0) return 'broken';
  return live === 0 ? 'off' : undefined;
}

function isReady({ unit, undecided, live }: UnitState): boolean {
  const { needed, incoming } = unit;
  return incoming.length === 0 || (needed === undefined ? undecided === 0 : live >= needed);
}

/** True if a failure inside a loop breaks at least one edge that leads out of the loop. */
function leadsOut({ unit, inner }: UnitState, damage: FailurePropagation): boolean {
  return unit.outgoing.some((edge) => {
    const source = inner?.latestOf(edge.from);
    return source?.damage === damage && stateAfter(source, edge) === 'broken';
  });
}

/**
 * Sets `isLeft` of the iterations that an edge leads out of, because the edge handles a failure: no further iteration
 * of their loops starts.
 */
function leaveBy(edge: UnitEdge, from: IterationScope): void {
  for (let scope: IterationScope | undefined = from; scope && scope.region !== edge.region; scope = scope.around?.scope)
    scope.isLeft = true;
}

/**
 * Returns the state of an edge after its source has ended. @param taken indexes of the edges that a decision has taken
 */
function stateAfter(source: UnitState, edge: UnitEdge, taken?: ReadonlySet<number>): EdgeState {
  const { outcome, damage } = source;
  if (outcome === 'completed') return isEdgeTaken(edge, 'completed', taken) ? 'live' : 'off';
  if (outcome === 'failed' && !isForSuccess(edge)) return isEdgeTaken(edge, 'failed', taken) ? 'live' : 'off';
  return damage ? 'broken' : 'off';
}

function isForSuccess({ edge: { on = 'success' } }: UnitEdge): boolean {
  return on === 'success';
}

function isEdgeTaken(
  { index, isChosen, edge: { on = 'success', when } }: UnitEdge,
  outcome: 'completed' | 'failed',
  taken: ReadonlySet<number> | undefined,
): boolean {
  const isMeant = on === 'always' || (on === 'success') === (outcome === 'completed');
  return isMeant && (isChosen && taken ? taken.has(index) : when === undefined);
}

type ChoosingOutcome = 'completed' | 'failed';

/** Edges that lead out of a loop from one node, and depend on the outcome of that node in the last iteration. */
export interface LeavingChoice {
  readonly node: NodeInstance;
  readonly outcome: ChoosingOutcome;
  readonly edges: readonly GraphEdge[];
  /** Taken edges, if they were already decided when the instance failed; then no decision is left. */
  readonly taken?: readonly number[];
}

/**
 * Returns the outgoing edges to decide when an instance ends with this outcome; `undefined` if none of its node's edges
 * needs a decision, or the instance is an entry of a list.
 */
export function listEdgeChoices(
  graph: WorkflowGraph,
  node: NodeInstance,
  outcome: ChoosingOutcome,
): readonly GraphEdge[] | undefined {
  const unit = graph.regions.findUnit(node.id);
  const hasChoice = unit !== undefined && node.list === undefined && graph.hasChoice(node.id);
  if (!hasChoice) return undefined;
  // Edges that handle a failure are taken at once, even out of a loop. All other edges out of a loop are decided at its
  // end.
  const edges = outcome === 'failed' ? [...unit.outgoing, ...unit.leaving] : unit.outgoing;
  return edges.filter((edge) => isFor(edge, outcome));
}

/**
 * Returns the edges to decide at the end of a loop, by source node.
 * @param fails true if the loop itself fails, which counts as a failure of its last node
 */
export function listLeavingChoices(graph: WorkflowGraph, run: UnitState, fails: boolean): LeavingChoice[] {
  const { inner, unit, loop } = run;
  const failing = fails ? loop?.loop.from : undefined;
  const sources = new Set([...unit.outgoing.map(({ from }) => from), ...(failing === undefined ? [] : [failing])]);
  return [...sources].flatMap((id): LeavingChoice[] => {
    const last = inner?.latestOf(id);
    const { node, outcome } = last ?? {};
    if (node === undefined || !graph.hasChoice(id)) return [];
    const own = unit.outgoing.filter(({ from }) => from === id);
    if (id === failing)
      return createLeavingChoice(node, 'failed', [...own, ...unit.leaving.filter(({ from }) => from === id)]);
    if (outcome === 'completed') return createLeavingChoice(node, outcome, own);
    return outcome === 'failed' ? createLeavingChoice(node, outcome, own, node.taken ?? []) : [];
  });
}

function createLeavingChoice(
  node: NodeInstance,
  outcome: ChoosingOutcome,
  all: readonly UnitEdge[],
  taken?: readonly number[],
): LeavingChoice[] {
  const edges = all.filter((edge) => isFor(edge, outcome));
  if (edges.length === 0) return [];
  return [
    { node, outcome, edges, ...(taken && { taken: taken.filter((at) => edges.some(({ index }) => index === at)) }) },
  ];
}

function isFor({ edge: { on = 'success' } }: GraphEdge, outcome: ChoosingOutcome): boolean {
  return on === 'always' || (on === 'success') === (outcome === 'completed');
}
