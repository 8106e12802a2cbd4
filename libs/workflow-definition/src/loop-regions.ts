import type { LoopConfig, WorkflowEdge, WorkflowNode } from './workflow.js';

/** Fault of a graph that makes it impossible to run. */
export interface GraphFault {
  code: 'DUPLICATE_NODE' | 'UNKNOWN_NODE' | 'CYCLE' | 'INVALID_LOOP' | 'INVALID_EXIT';
  text: string;
  /** Index in `edges` of the edge with the fault; absent if the fault concerns no edge. */
  edge?: number;
}

/** Edge of a graph, with its index in `edges`. */
export interface GraphEdge {
  readonly index: number;
  readonly from: string;
  readonly to: string;
  readonly edge: WorkflowEdge;
}

/** A loop: a back-edge, and the nodes that it repeats. */
export interface Loop {
  /** Index of the back-edge in the `edges` of the definition. */
  readonly index: number;
  /** Last node of each iteration, at which the back-edge begins. */
  readonly from: string;
  /** First node of each iteration; the back-edge leads to it. */
  readonly to: string;
  readonly config: LoopConfig;
  /** Ids of the repeated nodes: `to`, `from`, and all nodes on paths from `to` to `from`. */
  readonly body: ReadonlySet<string>;
}

/** Graph in topological order: each node comes after all of its predecessors. */
interface OrderedGraph {
  readonly order: readonly string[];
  predecessors(id: string): string[];
}

const BITS = 32;

/**
 * Ancestors (direct and indirect predecessors) of each node in a graph. Back-edges and `onExit` nodes are ignored;
 * `PrecedenceIndex` takes them into account. Memory: one bit for each pair of nodes.
 */
export class AncestorSets {
  private readonly places: ReadonlyMap<string, number>;
  private readonly sets = new Map<string, Uint32Array>();

  constructor(graph: OrderedGraph) {
    const { order } = graph;
    this.places = new Map(order.map((id, place) => [id, place]));
    for (const id of order) {
      const set = new Uint32Array(Math.ceil(order.length / BITS));
      for (const predecessor of graph.predecessors(id)) this.includePredecessor(set, predecessor);
      this.sets.set(id, set);
    }
  }

  hasAncestor(id: string, ancestor: string): boolean {
    const place = this.places.get(ancestor);
    const words = this.sets.get(id);
    if (place === undefined || words === undefined) return false;
    return ((words[Math.floor(place / BITS)] ?? 0) & (1 << (place % BITS))) !== 0;
  }

  private includePredecessor(set: Uint32Array, predecessor: string): void {
    const place = this.places.get(predecessor) ?? 0;
    const before = this.sets.get(predecessor);
    if (before) for (const [index, word] of before.entries()) set[index] = (set[index] ?? 0) | word;
    const index = Math.floor(place / BITS);
    set[index] = (set[index] ?? 0) | (1 << (place % BITS));
  }
}

/** Graph without its back-edges. */
interface ForwardGraph {
  /** Ids of the nodes, each after all of its predecessors. */
  readonly order: readonly string[];
  predecessors(id: string): string[];
  incoming(id: string): readonly GraphEdge[];
}

/** Loops of a graph, each formed by a back-edge; and the faults of back-edges that form no valid loop. */
export class LoopBodies {
  readonly loops: readonly Loop[];
  readonly faults: readonly GraphFault[];

  /** @param graph acyclic graph, from which the back-edges are removed */
  constructor(
    private readonly graph: ForwardGraph,
    backEdges: readonly GraphEdge[],
  ) {
    const ancestors = backEdges.length > 0 ? new AncestorSets(graph) : undefined;
    this.loops = backEdges.map((edge) => this.createLoop(edge, ancestors));
    const faults = this.loops.flatMap((loop) => this.findLoopFaults(loop));
    this.faults = faults.length > 0 ? faults : findOverlap(this.loops);
  }

  private createLoop({ index, from, to, edge }: GraphEdge, ancestors: AncestorSets | undefined): Loop {
    const isWithin = (id: string) =>
      (id === to || ancestors?.hasAncestor(id, to) === true) &&
      (id === from || ancestors?.hasAncestor(from, id) === true);
    const config = edge.loop ?? { max_iterations: 1 };
    return { index, from, to, config, body: new Set(this.graph.order.filter(isWithin)) };
  }

  private findLoopFaults({ index, from, to, body }: Loop): GraphFault[] {
    const said = `loop edge from "${from}" to "${to}"`;
    if (body.size === 0)
      return [{ code: 'INVALID_LOOP', text: `${said}: "${to}" does not lead to "${from}"`, edge: index }];
    for (const id of body) {
      if (id === to) continue;
      const entry = this.graph.incoming(id).find((edge) => !body.has(edge.from));
      if (entry === undefined) continue;
      const text = `${said}: "${entry.from}" leads to "${id}" from outside, but a loop can be entered only at its "to"`;
      return [{ code: 'INVALID_LOOP', text, edge: index }];
    }
    return [];
  }
}

/**
 * Checks that any two loops are disjoint, or one lies inside the other. Returns a list with the fault of the first loop
 * for which that is not so; empty if there is none. Visits the loops from the largest body to the smallest: all nodes
 * of a body must have the same innermost loop among the loops visited before.
 */
function findOverlap(loops: readonly Loop[]): GraphFault[] {
  const innermost = new Map<string, Loop>();
  for (const loop of loops.toSorted((a, b) => b.body.size - a.body.size)) {
    const around = innermost.get(loop.to);
    for (const id of loop.body) {
      const other = innermost.get(id);
      if (other !== around || other?.body.size === loop.body.size) return [createOverlapFault(loop, other ?? around)];
      innermost.set(id, loop);
    }
  }
  return [];
}

function createOverlapFault({ index, from, to }: Loop, other: Loop | undefined): GraphFault {
  const text = `loop edges from "${from}" to "${to}" and from "${other?.from}" to "${other?.to}" share nodes: loops must be disjoint or nested`;
  return { code: 'INVALID_LOOP', text, edge: index };
}

/** Graph from which `Regions` are built: nodes, the edges between them, and the loops. */
interface LoopedGraph {
  /** Ids of the nodes that are in a region: all except `onExit` nodes. */
  readonly inside: readonly string[];
  readonly loops: readonly Loop[];
  node(id: string): WorkflowNode;
  outgoing(id: string): readonly GraphEdge[];
  isResult(id: string): boolean;
  hasChoice(id: string): boolean;
}

/** Region of a workflow: the whole workflow, or the body of a loop. `IterationScope` is one execution of a region. */
export class LoopRegion {
  readonly units: GraphUnit[] = [];
  readonly edges: UnitEdge[] = [];
  /** Units of this region (nodes and inner loops) by the ids of the nodes that they contain at any depth. */
  readonly unitOf = new Map<string, GraphUnit>();

  /**
   * @param loop the loop whose body the region is; absent for the whole workflow
   * @param outer the unit of that loop in the surrounding region; absent for the whole workflow
   */
  constructor(
    readonly loop?: Loop,
    readonly outer?: GraphUnit,
  ) {}
}

/** Vertex of a region: a single node, or a whole inner loop. */
export class GraphUnit {
  /** Edges of the same region that lead to this unit (node or loop). */
  readonly incoming: UnitEdge[] = [];
  /** Edges of the same region that lead from this unit (node or loop). */
  readonly outgoing: UnitEdge[] = [];
  /**
   * Edges from this unit (node or loop), or from a node in it, that leave the region. They are decided when the region
   * has ended.
   */
  readonly leaving: UnitEdge[] = [];
  /** Region of the loop's body; absent for a node. */
  readonly inner?: LoopRegion;

  /**
   * @param place index in `region.units`
   * @param node the node; for a loop the first node of each iteration
   * @param loop the loop that the unit represents; absent for a node
   */
  constructor(
    readonly region: LoopRegion,
    readonly place: number,
    readonly node: WorkflowNode,
    loop?: Loop,
  ) {
    if (loop) this.inner = new LoopRegion(loop, this);
  }

  /**
   * Number of live (taken) incoming edges after which the unit (node or loop) may run; `undefined` if all incoming
   * edges must be resolved first.
   */
  get needed(): number | undefined {
    const { join = 'all' } = this.node;
    if (join === 'all') return undefined;
    return join === 'any' ? 1 : join.n;
  }

  /** True if the start of this unit (node or loop) cancels the units that lead only to it (`join.cancelRest`). */
  get cancelsRest(): boolean {
    const { join } = this.node;
    return typeof join === 'object' && join.cancelRest === true;
  }
}

/**
 * Edge between two units (nodes or loops) of the same region. An edge that leads into or out of a loop is an edge of
 * that loop as a unit.
 */
export interface UnitEdge extends GraphEdge {
  readonly region: LoopRegion;
  /** Index of this edge in `region.edges`. */
  readonly slot: number;
  /** True if the outgoing edges of the source node need a decision: by a condition, an outcome or `branch`. */
  readonly isChosen: boolean;
  readonly source: GraphUnit;
  readonly target: GraphUnit;
}

/**
 * The regions of a workflow: the whole workflow, and the bodies of its loops. Without loops there is a single region,
 * whose units are the nodes.
 */
export class Regions {
  readonly root = new LoopRegion();
  /** Innermost region of each node, by node id. */
  private readonly regions = new Map<string, LoopRegion>();
  private readonly edges = new Map<number, UnitEdge>();
  private readonly befores = new Map<GraphUnit, readonly GraphUnit[]>();

  constructor(private readonly graph: LoopedGraph) {
    for (const id of graph.inside) this.regions.set(id, this.root);
    for (const loop of graph.loops.toSorted((a, b) => b.body.size - a.body.size)) this.addLoop(loop);
    for (const [id, region] of this.regions) this.addUnit(region, id);
    for (const id of this.regions.keys()) for (const edge of graph.outgoing(id)) this.addEdge(edge);
  }

  /** Returns the unit that represents a node in the node's innermost region; `undefined` for an `onExit` node. */
  findUnit(id: string): GraphUnit | undefined {
    return this.regions.get(id)?.unitOf.get(id);
  }

  /**
   * Returns the edge at an index in the `edges` of the definition; `undefined` for a back-edge and for a duplicate
   * edge.
   */
  findEdge(index: number): UnitEdge | undefined {
    return this.edges.get(index);
  }

  /**
   * Returns the other units of the unit's region that lead only to this unit: every path from them reaches it. Omits
   * units that contain a result node, and units with an edge that leaves the region.
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

  /** Adds a loop to the surrounding region. Call it for larger loops first, so that the surrounding region exists. */
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

  /**
   * Adds an edge to the innermost region that contains both of its ends. The edge leaves every smaller region that
   * contains only its source.
   */
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
