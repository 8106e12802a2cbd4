import type { GraphUnit, LoopRegion, UnitEdge, WorkflowGraph } from '#libs/workflow-definition';
import { formatInstanceName, type Instances, type LoopRun, type NodeInstance, type RunError } from './node-instance.js';

/**
 * State of an edge. `live`: taken; `off`: not taken; `broken`: its source has failed, and no edge handled the failure.
 */
export type EdgeState = 'undecided' | 'live' | 'off' | 'broken';

/** An unhandled failure as it propagates along the edges. */
export interface FailurePropagation {
  readonly error: RunError;
  /**
   * True if the failure reached a unit that runs despite the failure, or a unit whose result is no longer needed. The
   * failure then ends there, and not at the end of the run.
   */
  isAbsorbed: boolean;
  /** True if the failure reached the end of the run. */
  isUnhandled: boolean;
}

/** State of a unit in one iteration. The unit is a node, with one instance, or a loop, with one execution. */
export class UnitState {
  /** Number of undecided incoming edges. `live` and `broken` count the incoming edges in those states. */
  undecided: number;
  live = 0;
  broken = 0;
  /** True if the unit (node or loop) was reached: its instance is ready or has started, or its loop has begun. */
  isReached = false;
  /** Outcome of the unit (node or loop), once it has ended. */
  outcome?: 'completed' | 'failed' | 'skipped' | 'canceled';
  /** The unhandled failure that made the unit (node or loop) fail or be skipped; absent for any other outcome. */
  damage?: FailurePropagation;
  /** First failure that broke an incoming edge of the unit (node or loop); absent if none is broken. */
  firstDamage?: FailurePropagation;
  /** Instance of the node; absent for a loop. */
  node?: NodeInstance;
  /** Execution of the loop; absent for a node, and until the loop is reached. */
  loop?: LoopRun;
  /** Newest iteration of the loop; absent for a node, and until the loop is reached. */
  inner?: IterationScope;
  /** True if the unit (node or loop) was running when its result was no longer needed. Its end then has no effect. */
  isWithdrawn = false;

  constructor(
    readonly unit: GraphUnit,
    readonly scope: IterationScope,
  ) {
    this.undecided = unit.incoming.length;
  }

  /** True if the unit (node or loop) has not begun, but may still begin. */
  get isPending(): boolean {
    if (this.outcome !== undefined) return false;
    return this.node ? this.node.status === 'pending' : !this.isReached;
  }
}

/** A single execution of a region: the whole workflow, or one iteration of a loop. */
export class IterationScope {
  readonly units: readonly UnitState[];
  readonly edges: EdgeState[];
  /** Number of units (nodes and inner loops) of this iteration that have not ended. */
  open: number;
  /**
   * Start time of the units (nodes and inner loops) without incoming edges, in epoch milliseconds; absent: they start
   * at once.
   */
  startsAt?: number;
  /** The failure that ended this iteration, if any. No further iteration starts after it. */
  doom?: FailurePropagation;
  /** True if an edge out of the loop handles a failure of this iteration. No further iteration starts after it. */
  isLeft = false;

  /**
   * @param path numbers of the iterations of the surrounding loops, outermost first, including this iteration
   * @param around state of the loop in the surrounding iteration; absent for the whole workflow
   * @param previous the previous iteration of the loop
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

  /**
   * Returns the state of the unit that contains a node, in this iteration; `undefined` if the region does not contain
   * the node.
   */
  findUnit(id: string): UnitState | undefined {
    const unit = this.region.unitOf.get(id);
    return unit && this.stateOfUnit(unit);
  }

  stateOfUnit(unit: GraphUnit): UnitState {
    return this.units[unit.place] as UnitState;
  }

  /**
   * Returns the state of a node in this iteration; `undefined` if the region does not contain the node. For a node in
   * an inner loop, returns the state in the newest iteration of that loop, or the state of the loop itself if the loop
   * has not begun.
   */
  latestOf(id: string): UnitState | undefined {
    const run = this.findUnit(id);
    return run?.inner ? run.inner.latestOf(id) : run;
  }

  edgeState(edge: UnitEdge): EdgeState {
    return this.edges[edge.slot] as EdgeState;
  }

  /**
   * Sets the state of an edge, and updates the counts of the edge's target.
   * @param damage failure that breaks the edge, for the state `broken`
   * @returns true if the state changed
   */
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

/** Identifies a loop of a run: the index of its back-edge in `edges`, and the iterations of the surrounding loops. */
export interface LoopAddress {
  edge: number;
  path: readonly number[];
}

/** Iterations of a run that are still stored: the whole workflow, and the last two iterations of each loop. */
export class ScopeTree {
  readonly root: IterationScope;
  private readonly runs = new Map<NodeInstance, UnitState>();
  private readonly loops = new Map<string, UnitState>();

  constructor(
    private readonly graph: WorkflowGraph,
    private readonly instances: Instances,
  ) {
    // Instances are created in the order of the definition, which all lists follow.
    for (const node of graph.definition.nodes)
      instances.ensureInstance(node, firstPath(graph.regions.findUnit(node.id)));
    this.root = this.createScope(graph.regions.root, []);
  }

  /**
   * Returns the state of the node (its unit) in the iteration of an instance; `undefined` if that iteration is not
   * stored.
   */
  unitOfInstance(node: NodeInstance): UnitState | undefined {
    return this.runs.get(node);
  }

  findLoop({ edge, path }: LoopAddress): UnitState | undefined {
    return this.loops.get(formatInstanceName(String(edge), path));
  }

  /** Starts the first iteration of a loop. Returns `undefined` if the unit is a node and not a loop. */
  openLoop(run: UnitState): IterationScope | undefined {
    const { inner } = run.unit;
    if (inner?.loop === undefined) return undefined;
    const { path } = run.scope;
    run.loop = { loop: inner.loop, path, iteration: 1 };
    this.loops.set(formatInstanceName(String(inner.loop.index), path), run);
    run.inner = this.createScope(inner, [...path, 1], run);
    return run.inner;
  }

  /**
   * Starts the second or a later iteration of a loop. Returns `undefined` if the loop was not reached. Only this
   * iteration and the one before it stay stored.
   */
  nextIteration(run: UnitState, iteration: number): IterationScope | undefined {
    const { inner: last, loop } = run;
    if (last === undefined || loop === undefined) return undefined;
    if (last.previous) this.forgetScope(last.previous);
    delete last.previous;
    loop.iteration = iteration;
    run.inner = this.createScope(last.region, [...loop.path, iteration], run, last);
    return run.inner;
  }

  /**
   * Returns the instances of a unit (node or loop). For a skipped loop, these are the instances of its nodes in its
   * first iteration; they are created if they do not exist.
   */
  instancesOf({ unit, scope, node }: UnitState): NodeInstance[] {
    if (node) return [node];
    return [...(unit.inner?.unitOf.keys() ?? [])].map((id) =>
      this.instances.ensureInstance(this.graph.node(id), this.pathIn(unit, scope, id)),
    );
  }

  /**
   * Returns the instance of the node `id` whose result an expression or template of the instance `from` uses:
   * - the instance in the same iteration, once it has ended (completed, failed, skipped or canceled),
   * - until then the instance in the previous iteration,
   * - for a node in a loop that `from` is not in: the instance in the loop's last iteration.
   *
   * @param from absent for the run itself, which is in no loop; for example, to find the run's results
   * @returns `undefined` if the node has no instance
   */
  resolveInstance(id: string, from?: NodeInstance): NodeInstance | undefined {
    let scope: IterationScope | undefined = (from && this.unitOfInstance(from.list ?? from))?.scope ?? this.root;
    while (scope !== undefined && !scope.region.unitOf.has(id)) scope = scope.around?.scope;
    return (scope && this.resultIn(scope, id)) ?? this.instances.nodes.get(id);
  }

  /** True if an instance was skipped or canceled, or is being canceled because its result is not needed. */
  isLeftOut(node: NodeInstance): boolean {
    const { status } = node;
    if (status === 'skipped' || status === 'canceled') return true;
    return !hasEndStatus(node) && this.unitOfInstance(node)?.isWithdrawn === true;
  }

  /**
   * Returns the state of an edge that leads to an instance, or to a loop around the instance; `undefined` for any other
   * edge, and if the iteration is no longer stored.
   * @param index index of the edge in `edges`
   */
  findEdgeState(index: number, to: NodeInstance): EdgeState | undefined {
    const edge = this.graph.regions.findEdge(index);
    let scope = this.unitOfInstance(to.list ?? to)?.scope;
    while (scope !== undefined && scope.region !== edge?.region) scope = scope.around?.scope;
    return edge && scope?.edgeState(edge);
  }

  /**
   * Returns the innermost loop around an instance; `undefined` if there is none, or its iteration is no longer stored.
   */
  loopOf(node: NodeInstance): LoopRun | undefined {
    return this.unitOfInstance(node.list ?? node)?.scope.around?.loop;
  }

  /**
   * Returns the instance of a node whose result is visible in an iteration:
   * - the instance of this iteration, once its outcome is known (including skipped and canceled),
   * - else the instance of the previous iteration, if its outcome is known,
   * - else the instance of this iteration; `undefined` if there is none.
   */
  private resultIn(scope: IterationScope, id: string): NodeInstance | undefined {
    const run = scope.findUnit(id);
    const own = run?.inner ? this.resultIn(run.inner, id) : (run?.node ?? (run && this.skippedIn(run, id)));
    if (own && this.isDecided(own)) return own;
    const before = scope.previous && this.resultIn(scope.previous, id);
    return before && this.isDecided(before) ? before : own;
  }

  /**
   * Returns the instance of a node in the first iteration of a skipped loop; `undefined` if the loop was not skipped.
   */
  private skippedIn({ unit, scope, outcome }: UnitState, id: string): NodeInstance | undefined {
    return outcome === 'skipped'
      ? this.instances.byName.get(formatInstanceName(id, this.pathIn(unit, scope, id)))
      : undefined;
  }

  /** True if an instance has ended, or is being canceled because its result is not needed. */
  private isDecided(node: NodeInstance): boolean {
    return hasEndStatus(node) || this.isLeftOut(node);
  }

  /**
   * Returns the iteration numbers (`path`) of a node's first instance: the numbers of the given iteration, then a 1 for
   * each loop between the iteration and the node.
   */
  private pathIn({ inner }: GraphUnit, { path }: IterationScope, id: string): number[] {
    return inner ? [...path, ...firstPath(this.graph.regions.findUnit(id)).slice(path.length)] : [...path];
  }

  private createScope(
    region: LoopRegion,
    path: readonly number[],
    around?: UnitState,
    previous?: IterationScope,
  ): IterationScope {
    const scope = new IterationScope(region, path, around, previous);
    for (const run of scope.units) {
      if (run.unit.inner) continue;
      run.node = this.instances.ensureInstance(run.unit.node, path);
      this.runs.set(run.node, run);
    }
    return scope;
  }

  private forgetScope(scope: IterationScope): void {
    for (const { node, inner, loop } of scope.units) {
      if (node) {
        node.artifacts = [];
        this.runs.delete(node);
      }
      if (loop) this.loops.delete(formatInstanceName(String(loop.loop.index), loop.path));
      if (inner?.previous) this.forgetScope(inner.previous);
      if (inner) this.forgetScope(inner);
    }
  }
}

function hasEndStatus({ status }: NodeInstance): boolean {
  return status !== 'pending' && status !== 'running' && status !== 'input-required';
}

/**
 * Returns the path of a unit (node or loop) when all loops around it are in their first iteration: a 1 for each loop.
 */
function firstPath(unit: GraphUnit | undefined): number[] {
  const path: number[] = [];
  for (let region = unit?.region; region?.outer !== undefined; region = region.outer.region) path.push(1);
  return path;
}
