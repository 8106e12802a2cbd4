import type { WorkflowDefinition, WorkflowNode } from './workflow.js';

/** A definition that is no DAG. The text begins with `build DAG: ` (row C5). */
export class InvalidWorkflow extends Error {
  override readonly name = 'InvalidWorkflow';
  constructor(fault: string) {
    super(`build DAG: ${fault}`);
  }
}

/** The nodes of a workflow and how they hang together. Duplicate edges count once; all orders are stable. */
export class WorkflowGraph {
  /** Every node after all of its parents; among equals as defined. */
  readonly order: readonly string[];
  private readonly nodes = new Map<string, WorkflowNode>();
  private readonly parentsOf = new Map<string, string[]>();
  private readonly childrenOf = new Map<string, string[]>();

  private constructor(readonly definition: WorkflowDefinition) {
    for (const node of definition.nodes) this.addNode(node);
    for (const { from, to } of definition.edges) this.addEdge(from, to);
    this.order = this.sorted();
    if (this.order.length < this.nodes.size) {
      throw new InvalidWorkflow('cycle detected in workflow graph (excluding back-edges)');
    }
  }

  /** @throws InvalidWorkflow */
  static build(definition: WorkflowDefinition): WorkflowGraph {
    return new WorkflowGraph(definition);
  }

  has(id: string): boolean {
    return this.nodes.has(id);
  }

  /** Whether the workflow has `input` nodes. */
  get hasInputs(): boolean {
    return this.definition.nodes.some(({ type }) => type === 'input');
  }

  node(id: string): WorkflowNode {
    const node = this.nodes.get(id);
    if (node === undefined) throw new RangeError(`The graph has no node "${id}"`);
    return node;
  }

  /** In the order of the edges. */
  parents(id: string): readonly string[] {
    return this.parentsOf.get(id) ?? [];
  }

  children(id: string): readonly string[] {
    return this.childrenOf.get(id) ?? [];
  }

  /** Everything that cannot run without this node, itself excluded. */
  descendants(id: string): ReadonlySet<string> {
    return descendantsOf(id, (of) => this.children(of));
  }

  /** The nodes whose Artifacts are the run's result, as defined: the output nodes, without any the leaves. */
  resultNodes(): readonly WorkflowNode[] {
    const outputs = this.definition.nodes.filter((node) => node.type === 'output');
    return outputs.length > 0 ? outputs : this.definition.nodes.filter((node) => this.children(node.id).length === 0);
  }

  private addNode(node: WorkflowNode): void {
    if (this.nodes.has(node.id)) throw new InvalidWorkflow(`duplicate node ID: ${node.id}`);
    this.nodes.set(node.id, node);
    this.parentsOf.set(node.id, []);
    this.childrenOf.set(node.id, []);
  }

  private addEdge(from: string, to: string): void {
    const children = this.childrenOf.get(from);
    if (children === undefined) throw new InvalidWorkflow(`edge references unknown node: ${from}`);
    const parents = this.parentsOf.get(to);
    if (parents === undefined) throw new InvalidWorkflow(`edge references unknown node: ${to}`);
    if (parents.includes(from)) return;
    children.push(to);
    parents.push(from);
  }

  /** Kahn's algorithm; what lies on a cycle, or behind one, is missing. */
  private sorted(): string[] {
    const waitingFor = new Map([...this.parentsOf].map(([id, parents]) => [id, parents.length]));
    const order = [...waitingFor].filter(([, count]) => count === 0).map(([id]) => id);
    for (let next = 0; next < order.length; next++) {
      for (const child of this.children(order[next] ?? '')) {
        const count = (waitingFor.get(child) ?? 0) - 1;
        waitingFor.set(child, count);
        if (count === 0) order.push(child);
      }
    }
    return order;
  }
}

/** Everything reachable from a node; ends on cycles too. */
export function descendantsOf(id: string, childrenOf: (id: string) => readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...childrenOf(id)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...childrenOf(next));
  }
  return found;
}
