import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from './workflow.js';

/** A definition that is no DAG. The text begins with `build DAG: `. */
export class InvalidWorkflow extends Error {
  override readonly name = 'InvalidWorkflow';
  constructor(fault: string) {
    super(`build DAG: ${fault}`);
  }
}

interface Vertex {
  readonly node: WorkflowNode;
  /** The node's place in the definition. */
  readonly place: number;
  readonly incoming: WorkflowEdge[];
  readonly outgoing: WorkflowEdge[];
}

/** The nodes of a workflow and how they hang together. Duplicate edges count once; all orders are stable. */
export class WorkflowGraph {
  /** Every node after all of its predecessors; among equals as defined. Nodes on a cycle, or behind one, are missing. */
  readonly order: readonly string[];
  /** Why this is no DAG: the first fault. */
  readonly fault: InvalidWorkflow | undefined;
  /** Whether the workflow has `input` nodes. */
  readonly hasInputs: boolean;
  private readonly vertices = new Map<string, Vertex>();
  private readonly results: ReadonlyMap<string, WorkflowNode>;

  private constructor(readonly definition: WorkflowDefinition) {
    const faults = [...this.addNodes(), ...this.addEdges()];
    this.order = this.sorted();
    if (this.order.length < this.vertices.size) faults.push('cycle detected in workflow graph (excluding back-edges)');
    this.fault = faults[0] === undefined ? undefined : new InvalidWorkflow(faults[0]);
    this.hasInputs = definition.nodes.some(({ type }) => type === 'input');
    const outputs = definition.nodes.filter(({ type }) => type === 'output');
    const results = outputs.length > 0 ? outputs : definition.nodes.filter(({ id }) => this.outgoing(id).length === 0);
    this.results = new Map(results.map((node) => [node.id, node]));
  }

  /** @throws InvalidWorkflow */
  static build(definition: WorkflowDefinition): WorkflowGraph {
    const graph = new WorkflowGraph(definition);
    if (graph.fault) throw graph.fault;
    return graph;
  }

  /** The graph of any definition, without what there is no place for: for the runs of one that is no DAG, too. */
  static of(definition: WorkflowDefinition): WorkflowGraph {
    return new WorkflowGraph(definition);
  }

  has(id: string): boolean {
    return this.vertices.has(id);
  }

  node(id: string): WorkflowNode {
    return this.vertex(id).node;
  }

  /** The edges that lead to a node, as defined. */
  incoming(id: string): readonly WorkflowEdge[] {
    return this.vertex(id).incoming;
  }

  /** The edges that lead from a node, as defined. */
  outgoing(id: string): readonly WorkflowEdge[] {
    return this.vertex(id).outgoing;
  }

  /** In the order of the edges. */
  predecessors(id: string): string[] {
    return this.incoming(id).map(({ from }) => from);
  }

  /** In the order of the edges. */
  successors(id: string): string[] {
    return this.outgoing(id).map(({ to }) => to);
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
  private addNodes(): string[] {
    return [...this.definition.nodes.entries()].flatMap(([place, node]) => {
      if (this.vertices.has(node.id)) return [`duplicate node ID: ${node.id}`];
      this.vertices.set(node.id, { node, place, incoming: [], outgoing: [] });
      return [];
    });
  }

  /** @returns what is wrong with the edges */
  private addEdges(): string[] {
    const known = new Set<string>();
    return this.definition.edges.flatMap((edge) => {
      const { from, to } = edge;
      const [source, target] = [this.vertices.get(from), this.vertices.get(to)];
      if (!source || !target) return [`edge references unknown node: ${source ? to : from}`];
      const key = JSON.stringify([from, to]);
      if (known.has(key)) return [];
      known.add(key);
      source.outgoing.push(edge);
      target.incoming.push(edge);
      return [];
    });
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
