import { type Instances, formatInstanceName } from './instances.js';
import type { LoopRun } from './loop-run.js';
import type { NodeInstance } from './node-run.js';
import type { LoopRegion, GraphUnit } from './regions.js';
import { type EdgeState, IterationScope, type UnitState } from './scope.js';
import type { WorkflowGraph } from './workflow-graph.js';

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

  /** Returns the unit of an instance; `undefined` if it is in no stored iteration. */
  unitOfInstance(node: NodeInstance): UnitState | undefined {
    return this.runs.get(node);
  }

  findLoop({ edge, path }: LoopAddress): UnitState | undefined {
    return this.loops.get(formatInstanceName(String(edge), path));
  }

  /** Starts the first iteration of a loop. */
  openLoop(run: UnitState): IterationScope | undefined {
    const { inner } = run.unit;
    if (inner?.loop === undefined) return undefined;
    const { path } = run.scope;
    run.loop = { loop: inner.loop, path, iteration: 1 };
    this.loops.set(formatInstanceName(String(inner.loop.index), path), run);
    run.inner = this.createScope(inner, [...path, 1], run);
    return run.inner;
  }

  /** Starts another iteration of a loop, and drops the one before the previous one. */
  nextIteration(run: UnitState, iteration: number): IterationScope | undefined {
    const { inner: last, loop } = run;
    if (last === undefined || loop === undefined) return undefined;
    if (last.previous) this.forgetScope(last.previous);
    delete last.previous;
    loop.iteration = iteration;
    run.inner = this.createScope(last.region, [...loop.path, iteration], run, last);
    return run.inner;
  }

  /** Returns the instances of a unit, including those that a skipped loop would have had. */
  instancesOf({ unit, scope, node }: UnitState): NodeInstance[] {
    if (node) return [node];
    return [...(unit.inner?.unitOf.keys() ?? [])].map((id) =>
      this.instances.ensureInstance(this.graph.node(id), this.pathIn(unit, scope, id)),
    );
  }

  /** Resolves a node id as an instance, or the run, sees it. */
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
   * Returns the state of an edge to an instance, or to a loop around it.
   * @param index in `edges`
   */
  findEdgeState(index: number, to: NodeInstance): EdgeState | undefined {
    const edge = this.graph.regions.findEdge(index);
    let scope = this.unitOfInstance(to.list ?? to)?.scope;
    while (scope !== undefined && scope.region !== edge?.region) scope = scope.around?.scope;
    return edge && scope?.edgeState(edge);
  }

  /** Returns the innermost loop around an instance. */
  loopOf(node: NodeInstance): LoopRun | undefined {
    return this.unitOfInstance(node.list ?? node)?.scope.around?.loop;
  }

  /**
   * Returns the instance that represents a node in an iteration: that of this iteration once its outcome is known
   * (including skipped and canceled), else that of the previous one.
   */
  private resultIn(scope: IterationScope, id: string): NodeInstance | undefined {
    const run = scope.findUnit(id);
    const own = run?.inner ? this.resultIn(run.inner, id) : (run?.node ?? (run && this.skippedIn(run, id)));
    if (own && this.isDecided(own)) return own;
    const before = scope.previous && this.resultIn(scope.previous, id);
    return before && this.isDecided(before) ? before : own;
  }

  /** Returns the instance that a node would have had in a skipped loop. */
  private skippedIn({ unit, scope, outcome }: UnitState, id: string): NodeInstance | undefined {
    return outcome === 'skipped'
      ? this.instances.byName.get(formatInstanceName(id, this.pathIn(unit, scope, id)))
      : undefined;
  }

  /** True if an instance has ended, or is being canceled because its result is not needed. */
  private isDecided(node: NodeInstance): boolean {
    return hasEndStatus(node) || this.isLeftOut(node);
  }

  /** Returns the path of a node's first instance in a unit of this iteration. */
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

/** Returns the path of the first iterations of the loops around a unit. */
function firstPath(unit: GraphUnit | undefined): number[] {
  const path: number[] = [];
  for (let region = unit?.region; region?.outer !== undefined; region = region.outer.region) path.push(1);
  return path;
}
