import { type Instances, instanceName } from './instances.js';
import type { LoopRun } from './loop-run.js';
import type { NodeRun } from './node-run.js';
import type { Region, Unit } from './regions.js';
import { type EdgeState, Scope, type UnitRun } from './scope.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** Identifies a loop of a run: the index of its back-edge in `edges`, and the iterations of the surrounding loops. */
export interface LoopPlace {
  edge: number;
  path: readonly number[];
}

/** Iterations of a run that are still stored: the whole workflow, and the last two iterations of each loop. */
export class Scopes {
  readonly root: Scope;
  private readonly runs = new Map<NodeRun, UnitRun>();
  private readonly loops = new Map<string, UnitRun>();

  constructor(
    private readonly graph: WorkflowGraph,
    private readonly instances: Instances,
  ) {
    // Instances are created in the order of the definition, which all lists follow.
    for (const node of graph.definition.nodes) instances.at(node, firstPath(graph.regions.unit(node.id)));
    this.root = this.make(graph.regions.root, []);
  }

  /** Returns the unit of an instance; `undefined` if it is in no stored iteration. */
  of(node: NodeRun): UnitRun | undefined {
    return this.runs.get(node);
  }

  loop({ edge, path }: LoopPlace): UnitRun | undefined {
    return this.loops.get(instanceName(String(edge), path));
  }

  /** Starts the first iteration of a loop. */
  open(run: UnitRun): Scope | undefined {
    const { inner } = run.unit;
    if (inner?.loop === undefined) return undefined;
    const { path } = run.scope;
    run.loop = { loop: inner.loop, path, iteration: 1 };
    this.loops.set(instanceName(String(inner.loop.index), path), run);
    run.inner = this.make(inner, [...path, 1], run);
    return run.inner;
  }

  /** Starts another iteration of a loop, and drops the one before the previous one. */
  next(run: UnitRun, iteration: number): Scope | undefined {
    const { inner: last, loop } = run;
    if (last === undefined || loop === undefined) return undefined;
    if (last.previous) this.forget(last.previous);
    delete last.previous;
    loop.iteration = iteration;
    run.inner = this.make(last.region, [...loop.path, iteration], run, last);
    return run.inner;
  }

  /** Returns the instances of a unit, including those that a skipped loop would have had. */
  instancesOf({ unit, scope, node }: UnitRun): NodeRun[] {
    if (node) return [node];
    return [...(unit.inner?.unitOf.keys() ?? [])].map((id) =>
      this.instances.at(this.graph.node(id), this.pathIn(unit, scope, id)),
    );
  }

  /** Resolves a node id as an instance, or the run, sees it. */
  seen(id: string, from?: NodeRun): NodeRun | undefined {
    let scope: Scope | undefined = (from && this.of(from.list ?? from))?.scope ?? this.root;
    while (scope !== undefined && !scope.region.unitOf.has(id)) scope = scope.around?.scope;
    return (scope && this.resultIn(scope, id)) ?? this.instances.nodes.get(id);
  }

  /** True if an instance was skipped or canceled, or is being canceled because its result is not needed. */
  isLeftOut(node: NodeRun): boolean {
    const { status } = node;
    if (status === 'skipped' || status === 'canceled') return true;
    return !hasEnded(node) && this.of(node)?.isWithdrawn === true;
  }

  /**
   * Returns the state of an edge to an instance, or to a loop around it.
   * @param index in `edges`
   */
  edge(index: number, to: NodeRun): EdgeState | undefined {
    const edge = this.graph.regions.edge(index);
    let scope = this.of(to.list ?? to)?.scope;
    while (scope !== undefined && scope.region !== edge?.region) scope = scope.around?.scope;
    return edge && scope?.state(edge);
  }

  /** Returns the innermost loop around an instance. */
  loopOf(node: NodeRun): LoopRun | undefined {
    return this.of(node.list ?? node)?.scope.around?.loop;
  }

  /**
   * Returns the instance that represents a node in an iteration: that of this iteration once its outcome is known
   * (including skipped and canceled), else that of the previous one.
   */
  private resultIn(scope: Scope, id: string): NodeRun | undefined {
    const run = scope.unit(id);
    const own = run?.inner ? this.resultIn(run.inner, id) : (run?.node ?? (run && this.skippedIn(run, id)));
    if (own && this.isDecided(own)) return own;
    const before = scope.previous && this.resultIn(scope.previous, id);
    return before && this.isDecided(before) ? before : own;
  }

  /** Returns the instance that a node would have had in a skipped loop. */
  private skippedIn({ unit, scope, outcome }: UnitRun, id: string): NodeRun | undefined {
    return outcome === 'skipped'
      ? this.instances.byName.get(instanceName(id, this.pathIn(unit, scope, id)))
      : undefined;
  }

  /** True if an instance has ended, or is being canceled because its result is not needed. */
  private isDecided(node: NodeRun): boolean {
    return hasEnded(node) || this.isLeftOut(node);
  }

  /** Returns the path of a node's first instance in a unit of this iteration. */
  private pathIn({ inner }: Unit, { path }: Scope, id: string): number[] {
    return inner ? [...path, ...firstPath(this.graph.regions.unit(id)).slice(path.length)] : [...path];
  }

  private make(region: Region, path: readonly number[], around?: UnitRun, previous?: Scope): Scope {
    const scope = new Scope(region, path, around, previous);
    for (const run of scope.units) {
      if (run.unit.inner) continue;
      run.node = this.instances.at(run.unit.node, path);
      this.runs.set(run.node, run);
    }
    return scope;
  }

  private forget(scope: Scope): void {
    for (const { node, inner, loop } of scope.units) {
      if (node) {
        node.artifacts = [];
        this.runs.delete(node);
      }
      if (loop) this.loops.delete(instanceName(String(loop.loop.index), loop.path));
      if (inner?.previous) this.forget(inner.previous);
      if (inner) this.forget(inner);
    }
  }
}

function hasEnded({ status }: NodeRun): boolean {
  return status !== 'pending' && status !== 'running' && status !== 'input-required';
}

/** Returns the path of the first iterations of the loops around a unit. */
function firstPath(unit: Unit | undefined): number[] {
  const path: number[] = [];
  for (let region = unit?.region; region?.outer !== undefined; region = region.outer.region) path.push(1);
  return path;
}
