import type { GraphEdge } from './graph-edge.js';
import type { Loop } from './loop.js';
import type { WorkflowNode } from './workflow.js';

/** Nodes, the edges between them, and the loops. */
interface LoopedGraph {
  /** Ids of the nodes that are in a region. */
  readonly inside: readonly string[];
  readonly loops: readonly Loop[];
  node(id: string): WorkflowNode;
  outgoing(id: string): readonly GraphEdge[];
  isResult(id: string): boolean;
  hasChoice(id: string): boolean;
}

/** A part of a workflow that runs as a whole: the whole workflow, or the body of a loop. */
export class LoopRegion {
  readonly units: GraphUnit[] = [];
  readonly edges: UnitEdge[] = [];
  /** Unit of this region that contains a node, by the node's id, at any depth. */
  readonly unitOf = new Map<string, GraphUnit>();

  /**
   * @param loop that repeats the region; absent for the whole workflow
   * @param outer unit of the loop in the surrounding region
   */
  constructor(
    readonly loop?: Loop,
    readonly outer?: GraphUnit,
  ) {}
}

/** A node directly in a region, or a loop directly in it. */
export class GraphUnit {
  /** Edges of the region to the unit and from it. */
  readonly incoming: UnitEdge[] = [];
  readonly outgoing: UnitEdge[] = [];
  /** Edges from the unit, or from its content, out of the region: they are decided when the region has ended. */
  readonly leaving: UnitEdge[] = [];
  /** Body of a loop. */
  readonly inner?: LoopRegion;

  /**
   * @param place index in `region.units`
   * @param node the node; for a loop the node that it begins with
   */
  constructor(
    readonly region: LoopRegion,
    readonly place: number,
    readonly node: WorkflowNode,
    loop?: Loop,
  ) {
    if (loop) this.inner = new LoopRegion(loop, this);
  }

  /** Number of live edges after which the unit runs; `undefined` if it waits for all its edges. */
  get needed(): number | undefined {
    const { join = 'all' } = this.node;
    if (join === 'all') return undefined;
    return join === 'any' ? 1 : join.n;
  }

  /** True if units that only lead to this one are canceled once it runs. */
  get cancelsRest(): boolean {
    const { join } = this.node;
    return typeof join === 'object' && join.cancelRest === true;
  }
}

/** An edge between two units of a region. A loop represents all nodes that it repeats. */
export interface UnitEdge extends GraphEdge {
  readonly region: LoopRegion;
  /** Index in the `edges` of the region. */
  readonly slot: number;
  /** True if the edges of its source node are chosen by a condition, an outcome or `branch`. */
  readonly isChosen: boolean;
  readonly source: GraphUnit;
  readonly target: GraphUnit;
}

/** The regions of a workflow. Without loops there is a single one, whose units are the nodes. */
export class Regions {
  readonly root = new LoopRegion();
  /** Innermost region by node. */
  private readonly regions = new Map<string, LoopRegion>();
  private readonly edges = new Map<number, UnitEdge>();
  private readonly befores = new Map<GraphUnit, readonly GraphUnit[]>();

  constructor(private readonly graph: LoopedGraph) {
    for (const id of graph.inside) this.regions.set(id, this.root);
    for (const loop of graph.loops.toSorted((a, b) => b.body.size - a.body.size)) this.addLoop(loop);
    for (const [id, region] of this.regions) this.addUnit(region, id);
    for (const id of this.regions.keys()) for (const edge of graph.outgoing(id)) this.addEdge(edge);
  }

  /** Returns the unit of a node in its innermost region; `undefined` for an `onExit` node. */
  findUnit(id: string): GraphUnit | undefined {
    return this.regions.get(id)?.unitOf.get(id);
  }

  /** Returns the edge at an index in `edges`; `undefined` for a back-edge and for a duplicate. */
  findEdge(index: number): UnitEdge | undefined {
    return this.edges.get(index);
  }

  /**
   * Returns the units whose every path leads to this one: they contain no result, and no edge from them leaves the
   * region.
   */
  onlyBefore(unit: GraphUnit): readonly GraphUnit[] {
    const known = this.befores.get(unit);
    if (known) return known;
    const found = [unit];
    const open = new Map<GraphUnit, number>();
    for (const { incoming } of found) {
      for (const { source } of incoming) {
        const left = (open.get(source) ?? source.outgoing.length) - 1;
        open.set(source, left);
        if (left === 0 && source.leaving.length === 0 && !this.hasResult(source)) found.push(source);
      }
    }
    const rest = found.slice(1);
    this.befores.set(unit, rest);
    return rest;
  }

  private hasResult({ node, inner }: GraphUnit): boolean {
    if (inner === undefined) return this.graph.isResult(node.id);
    return inner.unitOf.keys().some((id) => this.graph.isResult(id));
  }

  /** Adds a loop to the region around it. Add larger loops first, so that the surrounding region exists. */
  private addLoop(loop: Loop): void {
    const around = this.regions.get(loop.to);
    const outer = around && this.newUnit(around, loop.to, loop);
    if (around === undefined || outer?.inner === undefined) return;
    for (const id of loop.body) {
      around.unitOf.set(id, outer);
      this.regions.set(id, outer.inner);
    }
  }

  private addUnit(region: LoopRegion, id: string): void {
    region.unitOf.set(id, this.newUnit(region, id));
  }

  private newUnit(region: LoopRegion, id: string, loop?: Loop): GraphUnit {
    const unit = new GraphUnit(region, region.units.length, this.graph.node(id), loop);
    region.units.push(unit);
    return unit;
  }

  /** Adds an edge to the innermost region that contains both ends. It leaves every smaller region around its source. */
  private addEdge(edge: GraphEdge): void {
    const left: GraphUnit[] = [];
    let region = this.regions.get(edge.from);
    while (region !== undefined && !region.unitOf.has(edge.to)) {
      const unit = region.unitOf.get(edge.from);
      if (unit) left.push(unit);
      region = region.outer?.region;
    }
    const [source, target] = [region?.unitOf.get(edge.from), region?.unitOf.get(edge.to)];
    if (region === undefined || source === undefined || target === undefined) return;
    const isChosen = this.graph.hasChoice(edge.from);
    const added = { ...edge, region, slot: region.edges.length, isChosen, source, target };
    region.edges.push(added);
    this.edges.set(edge.index, added);
    source.outgoing.push(added);
    target.incoming.push(added);
    for (const unit of left) unit.leaving.push(added);
  }
}
