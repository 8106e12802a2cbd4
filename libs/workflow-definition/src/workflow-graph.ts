import { AncestorSets, type GraphEdge, type GraphFault, type Loop, LoopBodies, Regions } from './loop-regions.js';
import type { OutcomeFilter, WorkflowDefinition, WorkflowEdge, WorkflowNode } from './workflow.js';

const DEFINITION_KEYS = ['deadline', 'parallel', 'onExit'] as const satisfies (keyof WorkflowDefinition)[];
const EDGE_KEYS = ['when', 'on', 'loop'] as const satisfies (keyof WorkflowEdge)[];
const NODE_KEYS = [
  'branch',
  'join',
  'each',
  'retry',
  'timeout',
  'fallback',
  'output',
  'onWait',
] as const satisfies (keyof WorkflowNode)[];
const NODE_TYPES: ReadonlySet<string> = new Set(['workflow', 'set', 'wait', 'human']);

/** True if a definition has language 1, and uses no member or node type that is newer than the first log format. */
function isPlain(definition: WorkflowDefinition): boolean {
  return (
    definition.language !== 2 &&
    hasNone(definition, DEFINITION_KEYS) &&
    definition.edges.every((edge) => hasNone(edge, EDGE_KEYS)) &&
    definition.nodes.every((node) => hasNone(node, NODE_KEYS) && !NODE_TYPES.has(node.type))
  );
}

/**
 * Cached results of `mayReadBytes`, by definition. The function is called at each end of a node, and a definition never
 * changes.
 */
const READS_BYTES = new WeakMap<WorkflowDefinition, boolean>();

/**
 * True if an expression of the definition may read the bytes of files, which are in `nodes.<id>.artifacts`. The
 * definition is searched as JSON for `artifacts`, or for a backslash, which may be an escape that hides that name.
 */
export function mayReadBytes(definition: WorkflowDefinition): boolean {
  const known = READS_BYTES.get(definition);
  if (known !== undefined) return known;
  const found = /artifacts|\\\\/.test(JSON.stringify(definition));
  READS_BYTES.set(definition, found);
  return found;
}

function hasNone<T>(value: T, keys: readonly (keyof T)[]): boolean {
  return keys.every((key) => value[key] === undefined);
}

/** Error for a definition whose graph cannot be run. Its message begins with `build DAG: `. */
export class InvalidWorkflow extends Error {
  override readonly name = 'InvalidWorkflow';
  constructor(readonly fault: GraphFault) {
    super(`build DAG: ${fault.text}`);
  }
}

interface Vertex {
  readonly node: WorkflowNode;
  /** Index of the node in the `nodes` of the definition. */
  readonly place: number;
  readonly incoming: GraphEdge[];
  readonly outgoing: GraphEdge[];
}

/**
 * Graph of a workflow: its nodes and the edges between them.
 * - Duplicates of an unconditional edge count once.
 * - Back-edges are not edges of the graph; `loops` contains them.
 * - Equal definitions give all lists in the same order.
 */
export class WorkflowGraph {
  /** Node ids in topological order, which is stable. Nodes on a cycle, or after one, are missing. */
  readonly order: readonly string[];
  /** First fault that makes the graph impossible to run; `undefined` if it has none. */
  readonly fault: InvalidWorkflow | undefined;
  /** True if the workflow has `input` nodes. */
  readonly hasInputs: boolean;
  /**
   * True if the definition uses only features of the first version: nodes and unconditional edges. The log of a run of
   * such a definition has the first format, which for example has no `node.skipped` events.
   */
  readonly isPlain: boolean;
  /** Loops in the order of the definition; empty if the graph has a fault. */
  readonly loops: readonly Loop[];
  /** Regions of the workflow: the whole workflow, and the bodies of its loops. */
  readonly regions: Regions;
  /**
   * The `onExit` nodes, which run after the outcome of the run is known: node id to required outcome. They are in no
   * region.
   */
  readonly exits: ReadonlyMap<string, OutcomeFilter>;
  private readonly vertices = new Map<string, Vertex>();
  private readonly backEdges: GraphEdge[] = [];
  private readonly results: ReadonlyMap<string, WorkflowNode>;

  private constructor(readonly definition: WorkflowDefinition) {
    this.isPlain = isPlain(definition);
    this.exits = new Map(definition.onExit?.map(({ node, on = 'always' }) => [node, on]));
    const faults = [...this.addNodes(), ...this.addEdges(), ...this.exitFaults()];
    this.order = this.sortTopologically();
    if (this.order.length < this.vertices.size)
      faults.push({ code: 'CYCLE', text: 'cycle detected in workflow graph (excluding back-edges)' });
    const bodies = new LoopBodies(this, faults.length === 0 ? this.backEdges : []);
    const [first] = [...faults, ...bodies.faults];
    this.fault = first && new InvalidWorkflow(first);
    this.loops = this.fault ? [] : bodies.loops;
    this.regions = new Regions(this);
    this.hasInputs = definition.nodes.some(({ type }) => type === 'input');
    this.results = new Map(this.findResults().map((node) => [node.id, node]));
  }

  /** Builds the graph of a definition. @throws InvalidWorkflow if the graph has a fault and cannot be run */
  static buildValid(definition: WorkflowDefinition): WorkflowGraph {
    const graph = new WorkflowGraph(definition);
    if (graph.fault) throw graph.fault;
    return graph;
  }

  /**
   * Builds the graph of any definition, and omits its invalid parts; `fault` is then set. The state of a run needs such
   * a graph if the run's definition is invalid.
   */
  static fromDefinition(definition: WorkflowDefinition): WorkflowGraph {
    return new WorkflowGraph(definition);
  }

  /** Ids of the nodes except `onExit` nodes, in the order of the definition. */
  get inside(): string[] {
    return [...this.vertices.keys()].filter((id) => !this.exits.has(id));
  }

  has(id: string): boolean {
    return this.vertices.has(id);
  }

  node(id: string): WorkflowNode {
    return this.getVertex(id).node;
  }

  /** Returns the edges to a node, in the order of the definition. */
  incoming(id: string): readonly GraphEdge[] {
    return this.getVertex(id).incoming;
  }

  /** Returns the edges from a node, in the order of the definition. */
  outgoing(id: string): readonly GraphEdge[] {
    return this.getVertex(id).outgoing;
  }

  /**
   * True if the outgoing edges of a node must be decided when the node ends: the node has `branch`, or an edge has a
   * condition or an outcome.
   */
  hasChoice(id: string): boolean {
    const { node, outgoing } = this.getVertex(id);
    return node.branch !== undefined || !outgoing.every(({ edge }) => isUnconditional(edge));
  }

  /** Returns the ids of a node's predecessors, each once, in the order of the edges. */
  predecessors(id: string): string[] {
    return [...new Set(this.incoming(id).map(({ from }) => from))];
  }

  /** Returns the ids of a node's successors, each once, in the order of the edges. */
  successors(id: string): string[] {
    return [...new Set(this.outgoing(id).map(({ to }) => to))];
  }

  /** Returns the index of a node in the `nodes` of the definition. */
  placeInDefinition(id: string): number {
    return this.getVertex(id).place;
  }

  /** Returns items sorted by the position of their nodes in the definition. The `id` of an item is a node id. */
  asDefined<T extends { readonly id: string }>(nodes: Iterable<T>): T[] {
    return [...nodes].sort((a, b) => this.getVertex(a.id).place - this.getVertex(b.id).place);
  }

  /**
   * Returns the nodes whose Artifacts are the result of the run, in the order of the definition: the `output` nodes, or
   * the leaves if the workflow has no `output` node.
   */
  resultNodes(): WorkflowNode[] {
    return [...this.results.values()];
  }

  /** True if a node is one of `resultNodes`. */
  isResult(id: string): boolean {
    return this.results.has(id);
  }

  private getVertex(id: string): Vertex {
    const vertex = this.vertices.get(id);
    if (vertex === undefined) throw new RangeError(`The graph has no node "${id}"`);
    return vertex;
  }

  /** Adds the nodes of the definition. @returns the faults of these nodes */
  private addNodes(): GraphFault[] {
    return [...this.definition.nodes.entries()].flatMap(([place, node]): GraphFault[] => {
      if (this.vertices.has(node.id)) return [{ code: 'DUPLICATE_NODE', text: `duplicate node ID: ${node.id}` }];
      this.vertices.set(node.id, { node, place, incoming: [], outgoing: [] });
      return [];
    });
  }

  /** Adds the edges of the definition. @returns the faults of these edges */
  private addEdges(): GraphFault[] {
    const known = new Set<string>();
    return [...this.definition.edges.entries()].flatMap(([index, edge]): GraphFault[] => {
      const { from, to, loop } = edge;
      const [source, target] = [this.vertices.get(from), this.vertices.get(to)];
      if (!source || !target)
        return [{ code: 'UNKNOWN_NODE', text: `edge references unknown node: ${source ? to : from}`, edge: index }];
      const added = { index, from, to, edge };
      if (loop) {
        this.backEdges.push(added);
        return [];
      }
      const key = JSON.stringify([from, to]);
      if (isUnconditional(edge) && known.has(key)) return [];
      if (isUnconditional(edge)) known.add(key);
      source.outgoing.push(added);
      target.incoming.push(added);
      return [];
    });
  }

  private exitFaults(): GraphFault[] {
    return [...this.exits.keys()].flatMap((id): GraphFault[] => {
      if (!this.vertices.has(id)) return [{ code: 'INVALID_EXIT', text: `onExit names unknown node: ${id}` }];
      const edge = this.definition.edges.findIndex(({ from, to }) => from === id || to === id);
      return edge < 0 ? [] : [{ code: 'INVALID_EXIT', text: `onExit node has an edge: ${id}`, edge }];
    });
  }

  /** Returns the result nodes. A node counts as a leaf if all of its outgoing edges are taken only after a failure. */
  private findResults(): WorkflowNode[] {
    const nodes = this.definition.nodes.filter(({ id }) => !this.exits.has(id));
    const outputs = nodes.filter(({ type }) => type === 'output');
    if (outputs.length > 0) return outputs;
    return nodes.filter(({ id }) => this.outgoing(id).every(({ edge }) => edge.on === 'failure'));
  }

  /** Returns the node ids in topological order (Kahn's algorithm). */
  private sortTopologically(): string[] {
    const inDegrees = new Map([...this.vertices].map(([id, { incoming }]) => [id, incoming.length]));
    const order = [...inDegrees].filter(([, inDegree]) => inDegree === 0).map(([id]) => id);
    for (let next = 0; next < order.length; next++) {
      for (const { to } of this.outgoing(order[next] ?? '')) {
        const inDegree = (inDegrees.get(to) ?? 0) - 1;
        inDegrees.set(to, inDegree);
        if (inDegree === 0) order.push(to);
      }
    }
    return order;
  }
}

function isUnconditional({ when, on }: WorkflowEdge): boolean {
  return when === undefined && on === undefined;
}

/**
 * Determines which nodes the expressions and `{{references}}` of a node may name: the nodes that come before that node.
 * Such a node may have been skipped. With `join`, it may also still be running.
 * These nodes come before a node:
 * - its ancestors,
 * - all nodes of a loop that comes before the node,
 * - all nodes of a loop that contains the node, because they run in this iteration or the previous one,
 * - for an `onExit` node: all nodes that are not `onExit` nodes.
 */
export class PrecedenceIndex {
  private readonly ancestors: AncestorSets;
  /** Loops that repeat each node, by node id. */
  private readonly loops = new Map<string, Loop[]>();

  constructor(private readonly graph: WorkflowGraph) {
    this.ancestors = new AncestorSets(graph);
    for (const loop of graph.loops) for (const id of loop.body) this.loops.set(id, [...this.loopsOf(id), loop]);
  }

  /** True if the node `other` comes before the node `id`. */
  runsAfter(id: string, other: string): boolean {
    // `onExit` nodes start at the same time, after all other nodes.
    if (this.graph.exits.has(id)) return !this.graph.exits.has(other);
    if (this.ancestors.hasAncestor(id, other)) return true;
    return this.loopsOf(other).some(({ body, to }) => body.has(id) || this.ancestors.hasAncestor(id, to));
  }

  /**
   * True if the conditions on the outgoing edges of the node `id` may name the node `other`: it is the same node, or it
   * comes before that node.
   */
  decidesAfter(id: string, other: string): boolean {
    return id === other || this.runsAfter(id, other);
  }

  /** True if at least one loop repeats both nodes. */
  isRepeated(id: string, other: string): boolean {
    return this.loopsOf(id).some(({ body }) => body.has(other));
  }

  private loopsOf(id: string): readonly Loop[] {
    return this.loops.get(id) ?? [];
  }
}
