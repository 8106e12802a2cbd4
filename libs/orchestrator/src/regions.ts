import type { GraphEdge } from './graph-edge.js';
import type { Loop } from './loop.js';
import type { WorkflowNode } from './workflow.js';

/** Nodes, the edges between them, and what of them is repeated. */
interface LoopedGraph {
  /** The ids of the nodes that are in a region. */
  readonly inside: readonly string[];
  readonly loops: readonly Loop[];
  node(id: string): WorkflowNode;
  outgoing(id: string): readonly GraphEdge[];
  isResult(id: string): boolean;
  chooses(id: string): boolean;
}

/** A part of a workflow that runs as a whole: all of it, or what a loop repeats. */
export class Region {
  readonly units: Unit[] = [];
  readonly edges: UnitEdge[] = [];
  /** By each node that is in the region, however deep: the unit that it is in there. */
  readonly unitOf = new Map<string, Unit>();

  /**
   * @param loop what repeats it; absent of the whole workflow
   * @param outer what that is in the region around it
   */
  constructor(
    readonly loop?: Loop,
    readonly outer?: Unit,
  ) {}
}

/** What settles in one piece: a node that is directly in a region, or a loop that is. */
export class Unit {
  /** The edges of the region that lead to it, and from it. */
  readonly incoming: UnitEdge[] = [];
  readonly outgoing: UnitEdge[] = [];
  /** Edges from it, or from what is in it, that lead out of the region: they are decided when that has ended. */
  readonly leaving: UnitEdge[] = [];
  /** Of a loop: what it repeats. */
  readonly inner?: Region;

  /**
   * @param place its place in `region.units`
   * @param node of a loop the node that it begins with
   */
  constructor(
    readonly region: Region,
    readonly place: number,
    readonly node: WorkflowNode,
    loop?: Loop,
  ) {
    if (loop) this.inner = new Region(loop, this);
  }

  /** How many live edges it takes to run, where it does not wait for all edges to settle. */
  get needed(): number | undefined {
    const { join = 'all' } = this.node;
    if (join === 'all') return undefined;
    return join === 'any' ? 1 : join.n;
  }

  /** Whether what only leads to it is canceled once it runs. */
  get cancelsRest(): boolean {
    const { join } = this.node;
    return typeof join === 'object' && join.cancelRest === true;
  }
}

/** An edge between two units of a region. A loop stands for all nodes that it repeats. */
export interface UnitEdge extends GraphEdge {
  readonly region: Region;
  /** Its place in the region's `edges`. */
  readonly slot: number;
  /** Whether something is chosen among the edges of the node that it comes from. */
  readonly isChosen: boolean;
  readonly source: Unit;
  readonly target: Unit;
}

/** How a workflow is made of regions. Without loops there is one, whose units are the nodes. */
export class Regions {
  readonly root = new Region();
  /** By node: the smallest region that it is in. */
  private readonly regions = new Map<string, Region>();
  private readonly edges = new Map<number, UnitEdge>();
  private readonly befores = new Map<Unit, readonly Unit[]>();

  constructor(private readonly graph: LoopedGraph) {
    for (const id of graph.inside) this.regions.set(id, this.root);
    for (const loop of graph.loops.toSorted((a, b) => b.body.size - a.body.size)) this.addLoop(loop);
    for (const [id, region] of this.regions) this.addUnit(region, id);
    for (const id of this.regions.keys()) for (const edge of graph.outgoing(id)) this.addEdge(edge);
  }

  /** What a node is in the smallest region around it; `undefined` for one that runs when the run has ended. */
  unit(id: string): Unit | undefined {
    return this.regions.get(id)?.unitOf.get(id);
  }

  /** The edge at a place in `edges`; `undefined` for a back-edge, and one that counts no more. */
  edge(index: number): UnitEdge | undefined {
    return this.edges.get(index);
  }

  /** The units from which every way leads to this one, and nowhere else: to no result, and not out of the region. */
  onlyBefore(unit: Unit): readonly Unit[] {
    const known = this.befores.get(unit);
    if (known) return known;
    const found = [unit];
    const open = new Map<Unit, number>();
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

  private hasResult({ node, inner }: Unit): boolean {
    if (inner === undefined) return this.graph.isResult(node.id);
    return inner.unitOf.keys().some((id) => this.graph.isResult(id));
  }

  /** Larger ones first: what is around it is there. */
  private addLoop(loop: Loop): void {
    const around = this.regions.get(loop.to);
    const outer = around && this.newUnit(around, loop.to, loop);
    if (around === undefined || outer?.inner === undefined) return;
    for (const id of loop.body) {
      around.unitOf.set(id, outer);
      this.regions.set(id, outer.inner);
    }
  }

  private addUnit(region: Region, id: string): void {
    region.unitOf.set(id, this.newUnit(region, id));
  }

  private newUnit(region: Region, id: string, loop?: Loop): Unit {
    const unit = new Unit(region, region.units.length, this.graph.node(id), loop);
    region.units.push(unit);
    return unit;
  }

  /** It belongs to the smallest region that has both of its ends, and leaves all smaller ones around its source. */
  private addEdge(edge: GraphEdge): void {
    const left: Unit[] = [];
    let region = this.regions.get(edge.from);
    while (region !== undefined && !region.unitOf.has(edge.to)) {
      const unit = region.unitOf.get(edge.from);
      if (unit) left.push(unit);
      region = region.outer?.region;
    }
    const [source, target] = [region?.unitOf.get(edge.from), region?.unitOf.get(edge.to)];
    if (region === undefined || source === undefined || target === undefined) return;
    const isChosen = this.graph.chooses(edge.from);
    const added = { ...edge, region, slot: region.edges.length, isChosen, source, target };
    region.edges.push(added);
    this.edges.set(edge.index, added);
    source.outgoing.push(added);
    target.incoming.push(added);
    for (const unit of left) unit.leaving.push(added);
  }
}
