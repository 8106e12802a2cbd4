import type { LoopRun } from './loop-run.js';
import type { NodeInstance, RunError } from './node-run.js';
import type { LoopRegion, GraphUnit, UnitEdge } from './regions.js';

/** `live`: taken; `off`: not taken; `broken`: its source has failed, and nothing handled the failure. */
export type EdgeState = 'undecided' | 'live' | 'off' | 'broken';

/** An unhandled failure as it propagates along the edges. */
export interface FailurePropagation {
  readonly error: RunError;
  /** True if it reached a unit that runs regardless, or one that is not needed anymore. */
  isAbsorbed: boolean;
  /** True if it reached the end of the run. */
  isUnhandled: boolean;
}

/** State of a unit in one iteration: a node's instance, or a loop's run. */
export class UnitState {
  /** Number of undecided incoming edges. */
  undecided: number;
  live = 0;
  broken = 0;
  /** True if the unit was reached: its instance is ready or beyond, or its loop has begun. */
  isReached = false;
  /** Outcome of the unit, once it has ended. */
  outcome?: 'completed' | 'failed' | 'skipped' | 'canceled';
  /** The failure because of which it failed or was skipped, if unhandled. */
  damage?: FailurePropagation;
  /** The failure that broke its first broken edge. */
  firstDamage?: FailurePropagation;
  /** Instance of a node. */
  node?: NodeInstance;
  /** Current iteration of a loop. */
  loop?: LoopRun;
  inner?: IterationScope;
  /** True if the unit was running when its result was no longer needed: its end has no effect. */
  isWithdrawn = false;

  constructor(
    readonly unit: GraphUnit,
    readonly scope: IterationScope,
  ) {
    this.undecided = unit.incoming.length;
  }

  /** True if the unit has not begun, but still may. */
  get isPending(): boolean {
    if (this.outcome !== undefined) return false;
    return this.node ? this.node.status === 'pending' : !this.isReached;
  }
}

/** A single execution of a region: the whole workflow, or one iteration of a loop. */
export class IterationScope {
  readonly units: readonly UnitState[];
  readonly edges: EdgeState[];
  /** Number of units that have not ended. */
  open: number;
  /** Start of the units without incoming edges, in milliseconds of the epoch; absent: at once. */
  startsAt?: number;
  /** The failure that ended this iteration, if any. No further iteration starts after it. */
  doom?: FailurePropagation;
  /** True if an edge out of the loop handles a failure of this iteration. No further iteration starts after it. */
  isLeft = false;

  /**
   * @param path iterations of the surrounding loops, outermost first, including this one
   * @param around state of the loop; absent for the whole workflow
   * @param previous the previous iteration
   */
  constructor(
    readonly region: LoopRegion,
    readonly path: readonly number[],
    readonly around?: UnitState,
    public previous?: IterationScope,
  ) {
    this.units = region.units.map((unit) => new UnitState(unit, this));
    this.edges = region.edges.map(() => 'undecided');
    this.open = this.units.length;
  }

  /** Returns the unit that contains a node here. */
  findUnit(id: string): UnitState | undefined {
    const unit = this.region.unitOf.get(id);
    return unit && this.stateOfUnit(unit);
  }

  stateOfUnit(unit: GraphUnit): UnitState {
    return this.units[unit.place] as UnitState;
  }

  /** Returns the latest state of a node here; for a node in a loop that was not reached, the state of the loop. */
  latestOf(id: string): UnitState | undefined {
    const run = this.findUnit(id);
    return run?.inner ? run.inner.latestOf(id) : run;
  }

  edgeState(edge: UnitEdge): EdgeState {
    return this.edges[edge.slot] as EdgeState;
  }

  /** @returns true if the state of the edge changed */
  setEdgeState(edge: UnitEdge, state: EdgeState, damage?: FailurePropagation): boolean {
    const before = this.edgeState(edge);
    if (before === state) return false;
    const target = this.stateOfUnit(edge.target);
    if (before !== 'off') target[before] -= 1;
    if (state !== 'off') target[state] += 1;
    if (damage) target.firstDamage ??= damage;
    this.edges[edge.slot] = state;
    return true;
  }
}
