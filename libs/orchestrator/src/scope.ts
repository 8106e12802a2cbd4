import type { LoopRun } from './loop-run.js';
import type { NodeRun, RunError } from './node-run.js';
import type { Region, Unit, UnitEdge } from './regions.js';

/** `live`: taken; `off`: not taken; `broken`: what it waits for has failed, and nothing took care of that. */
export type EdgeState = 'undecided' | 'live' | 'off' | 'broken';

/** A failure that nothing has taken care of, as it goes along the edges. */
export interface Damage {
  readonly error: RunError;
  /** Whether it came to a unit that runs all the same, or to one that is not needed any more. */
  isAbsorbed: boolean;
  /** Whether it came to an end of the run. */
  isUnhandled: boolean;
}

/** What has become of a unit in one scope: a node's instance, or a loop's run. */
export class UnitRun {
  /** Of the edges that lead to it. */
  undecided: number;
  live = 0;
  broken = 0;
  /** Whether it was reached: its instance is ready or beyond, its loop has begun. */
  isReached = false;
  /** How it has ended. */
  outcome?: 'completed' | 'failed' | 'skipped' | 'canceled';
  /** The failure that made it fail or be skipped, where nothing took care of it. */
  damage?: Damage;
  /** What the first edge that broke broke of. */
  firstDamage?: Damage;
  /** Of a node. */
  node?: NodeRun;
  /** Of a loop: the iteration that it is at. */
  loop?: LoopRun;
  inner?: Scope;
  /** True if it was under way when nobody needed it any more: its end changes nothing. */
  isWithdrawn = false;

  constructor(
    readonly unit: Unit,
    readonly scope: Scope,
  ) {
    this.undecided = unit.incoming.length;
  }

  /** Whether it has not begun, and may still. */
  get isPending(): boolean {
    if (this.outcome !== undefined) return false;
    return this.node ? this.node.status === 'pending' : !this.isReached;
  }
}

/** A region as it runs once: the whole workflow, or one iteration of a loop. */
export class Scope {
  readonly units: readonly UnitRun[];
  readonly edges: EdgeState[];
  /** How many units have not ended. */
  open: number;
  /** When what no edge leads to may start, in milliseconds of the epoch; absent: at once. */
  startsAt?: number;
  /** Of an iteration that has failed: of what. It is the loop's last one then. */
  doom?: Damage;
  /** Whether a failure in it is taken care of by an edge that leads out of it. It is the loop's last one then. */
  isLeft = false;

  /**
   * @param path the iterations of the loops around it, outermost first, with its own
   * @param around the loop's run; absent of the whole workflow
   * @param previous the iteration before
   */
  constructor(
    readonly region: Region,
    readonly path: readonly number[],
    readonly around?: UnitRun,
    public previous?: Scope,
  ) {
    this.units = region.units.map((unit) => new UnitRun(unit, this));
    this.edges = region.edges.map(() => 'undecided');
    this.open = this.units.length;
  }

  /** The unit that a node is in here. */
  unit(id: string): UnitRun | undefined {
    const unit = this.region.unitOf.get(id);
    return unit && this.run(unit);
  }

  run(unit: Unit): UnitRun {
    return this.units[unit.place] as UnitRun;
  }

  /** What has become of a node here the last time; of one in a loop that was not reached what has become of the loop. */
  last(id: string): UnitRun | undefined {
    const run = this.unit(id);
    return run?.inner ? run.inner.last(id) : run;
  }

  state(edge: UnitEdge): EdgeState {
    return this.edges[edge.slot] as EdgeState;
  }

  /** @returns whether that changed anything */
  settle(edge: UnitEdge, state: EdgeState, damage?: Damage): boolean {
    const before = this.state(edge);
    if (before === state) return false;
    const target = this.run(edge.target);
    if (before !== 'off') target[before] -= 1;
    if (state !== 'off') target[state] += 1;
    if (damage) target.firstDamage ??= damage;
    this.edges[edge.slot] = state;
    return true;
  }
}
