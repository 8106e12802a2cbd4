import { type Instances, instanceName } from './instances.js';
import type { LoopRun } from './loop-run.js';
import type { NodeRun } from './node-run.js';
import type { Region, Unit } from './regions.js';
import { type EdgeState, Scope, type UnitRun } from './scope.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** Which loop of a run is meant: its back-edge's place in `edges`, and the iterations of the loops around it. */
export interface LoopPlace {
  edge: number;
  path: readonly number[];
}

/** The scopes of a run that still count: the whole workflow, and of each loop's run the last two iterations. */
export class Scopes {
  readonly root: Scope;
  private readonly runs = new Map<NodeRun, UnitRun>();
  private readonly loops = new Map<string, UnitRun>();

  constructor(
    private readonly graph: WorkflowGraph,
    private readonly instances: Instances,
  ) {
    // In the order of the definition, which is that of everything that names nodes.
    for (const node of graph.definition.nodes) instances.at(node, firstPath(graph.regions.unit(node.id)));
    this.root = this.make(graph.regions.root, []);
  }

  /** What an instance is in its scope; `undefined` for one that is in none, or in none that still counts. */
  of(node: NodeRun): UnitRun | undefined {
    return this.runs.get(node);
  }

  loop({ edge, path }: LoopPlace): UnitRun | undefined {
    return this.loops.get(instanceName(String(edge), path));
  }

  /** The first iteration of a loop. */
  open(run: UnitRun): Scope | undefined {
    const { inner } = run.unit;
    if (inner?.loop === undefined) return undefined;
    const { path } = run.scope;
    run.loop = { loop: inner.loop, path, iteration: 1 };
    this.loops.set(instanceName(String(inner.loop.index), path), run);
    run.inner = this.make(inner, [...path, 1], run);
    return run.inner;
  }

  /** Another iteration of a loop. What came of the one before the last is forgotten. */
  next(run: UnitRun, iteration: number): Scope | undefined {
    const { inner: last, loop } = run;
    if (last === undefined || loop === undefined) return undefined;
    if (last.previous) this.forget(last.previous);
    delete last.previous;
    loop.iteration = iteration;
    run.inner = this.make(last.region, [...loop.path, iteration], run, last);
    return run.inner;
  }

  /** The instances that a unit would have had, had it run. */
  instancesOf({ unit, scope, node }: UnitRun): NodeRun[] {
    if (node) return [node];
    return [...(unit.inner?.unitOf.keys() ?? [])].map((id) =>
      this.instances.at(this.graph.node(id), this.pathIn(unit, scope, id)),
    );
  }

  /** What a node's id means to an instance, or to the run. */
  seen(id: string, from?: NodeRun): NodeRun | undefined {
    let scope: Scope | undefined = (from && this.of(from.list ?? from))?.scope ?? this.root;
    while (scope !== undefined && !scope.region.unitOf.has(id)) scope = scope.around?.scope;
    return (scope && this.resultIn(scope, id)) ?? this.instances.nodes.get(id);
  }

  /** True if an instance was skipped or canceled, or is being canceled because nobody needs it. */
  isLeftOut(node: NodeRun): boolean {
    const { status } = node;
    if (status === 'skipped' || status === 'canceled') return true;
    return !hasEnded(node) && this.of(node)?.isWithdrawn === true;
  }

  /** What has become of an edge that leads to an instance, or to a loop around it, by its place in `edges`. */
  edge(index: number, to: NodeRun): EdgeState | undefined {
    const edge = this.graph.regions.edge(index);
    let scope = this.of(to.list ?? to)?.scope;
    while (scope !== undefined && scope.region !== edge?.region) scope = scope.around?.scope;
    return edge && scope?.state(edge);
  }

  /** The innermost loop around an instance. */
  loopOf(node: NodeRun): LoopRun | undefined {
    return this.of(node.list ?? node)?.scope.around?.loop;
  }

  /**
   * Returns the instance that stands for a node in an iteration: that of this iteration once its outcome is known, skipped
   * and canceled ones included, else that of the iteration before.
   */
  private resultIn(scope: Scope, id: string): NodeRun | undefined {
    const run = scope.unit(id);
    const own = run?.inner ? this.resultIn(run.inner, id) : (run?.node ?? (run && this.skippedIn(run, id)));
    if (own && this.isDecided(own)) return own;
    const before = scope.previous && this.resultIn(scope.previous, id);
    return before && this.isDecided(before) ? before : own;
  }

  /** Returns the instance that a node would have had in a loop that was skipped. */
  private skippedIn({ unit, scope, outcome }: UnitRun, id: string): NodeRun | undefined {
    return outcome === 'skipped'
      ? this.instances.byName.get(instanceName(id, this.pathIn(unit, scope, id)))
      : undefined;
  }

  /** True if an instance has ended, or is being canceled because nobody needs it. */
  private isDecided(node: NodeRun): boolean {
    return hasEnded(node) || this.isLeftOut(node);
  }

  /** Returns the path of the first instance of a node in a unit that runs in this scope. */
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

/** The first iteration of each loop around a unit. */
function firstPath(unit: Unit | undefined): number[] {
  const path: number[] = [];
  for (let region = unit?.region; region?.outer !== undefined; region = region.outer.region) path.push(1);
  return path;
}
