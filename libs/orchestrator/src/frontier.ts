import type { NodeRun, NodeStatus } from './node-run.js';
import type { WorkflowGraph } from './workflow-graph.js';

/**
 * How far a run has come: which nodes may start, and which are under way. It follows from the statuses of the nodes alone,
 * however they came about; a node that changes costs its edges, and an answer costs what it names. Lists are as defined.
 */
export class Frontier {
  private readonly byStatus: Readonly<Record<NodeStatus, Set<NodeRun>>> = {
    pending: new Set(),
    running: new Set(),
    'input-required': new Set(),
    completed: new Set(),
    failed: new Set(),
    canceled: new Set(),
    skipped: new Set(),
  };
  /** Of each node, how many predecessors have not completed. */
  private readonly awaited = new Map<string, number>();
  private readonly startable = new Set<NodeRun>();
  private readonly unannounced = new Set<NodeRun>();

  /** @param nodes those of the graph; all of them are pending */
  constructor(
    private readonly graph: WorkflowGraph,
    private readonly nodes: ReadonlyMap<string, NodeRun>,
  ) {
    for (const node of nodes.values()) {
      this.awaited.set(node.id, graph.incoming(node.id).length);
      this.join(node);
    }
  }

  /** Pending nodes whose predecessors have all completed. */
  get ready(): NodeRun[] {
    return this.graph.asDefined(this.startable);
  }

  get running(): NodeRun[] {
    return this.graph.asDefined(this.byStatus.running);
  }

  /** Running nodes of whose Message to the agent nothing is told yet. */
  get unsent(): NodeRun[] {
    return this.graph.asDefined(this.unannounced);
  }

  /** Nodes that ask something. */
  get waiting(): NodeRun[] {
    return this.graph.asDefined(this.byStatus['input-required']);
  }

  /** Nodes that run or wait. */
  get active(): NodeRun[] {
    return this.graph.asDefined([...this.byStatus.running, ...this.byStatus['input-required']]);
  }

  /** Whether any node has this status. */
  has(status: NodeStatus): boolean {
    return this.byStatus[status].size > 0;
  }

  /** Gives a node its status. What is known of its Message is to be told before. */
  move(node: NodeRun, status: NodeStatus): void {
    const wasCompleted = node.status === 'completed';
    this.leave(node);
    const moved: { status: NodeStatus } = node;
    moved.status = status;
    this.join(node);
    if (wasCompleted !== (status === 'completed')) this.updateSuccessors(node, wasCompleted ? 1 : -1);
  }

  /** Skips what can no longer run after the failure of a node. */
  skipAfter({ id }: NodeRun): void {
    if (this.graph.definition.onFailure === 'continue') this.skipDescendants(id);
    else this.skipPending();
  }

  /** Skips what was not started, where nothing starts any more. */
  skipPending(): void {
    for (const node of [...this.byStatus.pending]) this.move(node, 'skipped');
  }

  /** What descends from a skipped node was skipped with it. */
  private skipDescendants(id: string): void {
    const open = this.graph.successors(id);
    const seen = new Set<string>();
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const node = this.nodes.get(next);
      if (node === undefined || node.status === 'skipped' || seen.has(next)) continue;
      seen.add(next);
      if (node.status === 'pending') this.move(node, 'skipped');
      open.push(...this.graph.successors(next));
    }
  }

  private leave(node: NodeRun): void {
    this.byStatus[node.status].delete(node);
    this.startable.delete(node);
    this.unannounced.delete(node);
  }

  private join(node: NodeRun): void {
    this.byStatus[node.status].add(node);
    if (node.status === 'pending' && this.awaited.get(node.id) === 0) this.startable.add(node);
    if (node.status === 'running' && node.messageId === undefined) this.unannounced.add(node);
  }

  private updateSuccessors({ id }: NodeRun, change: 1 | -1): void {
    for (const { to } of this.graph.outgoing(id)) {
      const awaited = (this.awaited.get(to) ?? 0) + change;
      this.awaited.set(to, awaited);
      const node = this.nodes.get(to);
      if (node?.status !== 'pending') continue;
      if (awaited === 0) this.startable.add(node);
      else this.startable.delete(node);
    }
  }
}
