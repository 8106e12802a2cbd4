import type { GraphEdge, GraphFault } from './graph-edge.js';
import { isPlain } from './plain-definition.js';
import type { Loop } from './loop.js';
import { LoopBodies } from './loop-bodies.js';
import { Regions } from './regions.js';
import type { OutcomeFilter, WorkflowDefinition, WorkflowEdge, WorkflowNode } from './workflow.js';

/** A definition whose graph no run can follow. The text begins with `build DAG: `. */
export class InvalidWorkflow extends Error {
  override readonly name = 'InvalidWorkflow';
  constructor(readonly fault: GraphFault) {
    super(`build DAG: ${fault.text}`);
  }
}

interface Vertex {
  readonly node: WorkflowNode;
  /** The node's place in the definition. */
  readonly place: number;
  readonly incoming: GraphEdge[];
  readonly outgoing: GraphEdge[];
}

/**
 * The nodes of a workflow and how they hang together. Edges without conditions that are there twice count once; all orders
 * are stable. Back-edges are no edges here but `loops`.
 */
export class WorkflowGraph {
  /** Every node after all of its predecessors; among equals as defined. Nodes on a cycle, or behind one, are missing. */
  readonly order: readonly string[];
  /** Why no run can follow it: the first fault. */
  readonly fault: InvalidWorkflow | undefined;
  /** Whether the workflow has `input` nodes. */
  readonly hasInputs: boolean;
  /** Whether it says nothing but which node follows which: such a run tells nothing but what its nodes do. */
  readonly isPlain: boolean;
  /** As defined; none of a graph with a fault. */
  readonly loops: readonly Loop[];
  /** What runs as a whole, and in it what is repeated. */
  readonly regions: Regions;
  /** The nodes that run when the outcome is known, and for which one; they are in no region. */
  readonly exits: ReadonlyMap<string, OutcomeFilter>;
  private readonly vertices = new Map<string, Vertex>();
  private readonly backEdges: GraphEdge[] = [];
  private readonly results: ReadonlyMap<string, WorkflowNode>;

  private constructor(readonly definition: WorkflowDefinition) {
    this.isPlain = isPlain(definition);
    this.exits = new Map(definition.onExit?.map(({ node, on = 'always' }) => [node, on]));
    const faults = [...this.addNodes(), ...this.addEdges(), ...this.exitFaults()];
    this.order = this.sorted();
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

  /** @throws InvalidWorkflow */
  static build(definition: WorkflowDefinition): WorkflowGraph {
    const graph = new WorkflowGraph(definition);
    if (graph.fault) throw graph.fault;
    return graph;
  }

  /** The graph of any definition, without what there is no place for: for the runs of one that has a fault, too. */
  static of(definition: WorkflowDefinition): WorkflowGraph {
    return new WorkflowGraph(definition);
  }

  /** The nodes of the run itself, as defined: those of `onExit` come after it. */
  get inside(): string[] {
    return [...this.vertices.keys()].filter((id) => !this.exits.has(id));
  }

  has(id: string): boolean {
    return this.vertices.has(id);
  }

  node(id: string): WorkflowNode {
    return this.vertex(id).node;
  }

  /** The edges that lead to a node, as defined. */
  incoming(id: string): readonly GraphEdge[] {
    return this.vertex(id).incoming;
  }

  /** The edges that lead from a node, as defined. */
  outgoing(id: string): readonly GraphEdge[] {
    return this.vertex(id).outgoing;
  }

  /** Whether something is chosen among the edges from a node: one has a condition, or an outcome that it is for. */
  chooses(id: string): boolean {
    const { node, outgoing } = this.vertex(id);
    return node.branch !== undefined || !outgoing.every(({ edge }) => isUnconditional(edge));
  }

  /** In the order of the edges, each once. */
  predecessors(id: string): string[] {
    return [...new Set(this.incoming(id).map(({ from }) => from))];
  }

  /** In the order of the edges, each once. */
  successors(id: string): string[] {
    return [...new Set(this.outgoing(id).map(({ to }) => to))];
  }

  /** Where a node is defined, among all. */
  place(id: string): number {
    return this.vertex(id).place;
  }

  /** What is named by the ids of nodes, in the order in which those are defined. */
  asDefined<T extends { readonly id: string }>(nodes: Iterable<T>): T[] {
    return [...nodes].sort((a, b) => this.vertex(a.id).place - this.vertex(b.id).place);
  }

  /** The nodes whose Artifacts are the run's result, as defined: the output nodes, without any the leaves. */
  resultNodes(): WorkflowNode[] {
    return [...this.results.values()];
  }

  /** Whether a node is one of `resultNodes`. */
  isResult(id: string): boolean {
    return this.results.has(id);
  }

  private vertex(id: string): Vertex {
    const vertex = this.vertices.get(id);
    if (vertex === undefined) throw new RangeError(`The graph has no node "${id}"`);
    return vertex;
  }

  /** @returns what is wrong with the nodes */
  private addNodes(): GraphFault[] {
    return [...this.definition.nodes.entries()].flatMap(([place, node]): GraphFault[] => {
      if (this.vertices.has(node.id)) return [{ code: 'DUPLICATE_NODE', text: `duplicate node ID: ${node.id}` }];
      this.vertices.set(node.id, { node, place, incoming: [], outgoing: [] });
      return [];
    });
  }

  /** @returns what is wrong with the edges */
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

  /** What only goes on after a failure is the last of what succeeds. */
  private findResults(): WorkflowNode[] {
    const nodes = this.definition.nodes.filter(({ id }) => !this.exits.has(id));
    const outputs = nodes.filter(({ type }) => type === 'output');
    if (outputs.length > 0) return outputs;
    return nodes.filter(({ id }) => this.outgoing(id).every(({ edge }) => edge.on === 'failure'));
  }

  /** Kahn's algorithm. */
  private sorted(): string[] {
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
