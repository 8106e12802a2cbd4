import type { JsonValue } from '#libs/protocol';
import type { Failure } from './failure.js';
import type { LoopReason } from './loop-run.js';
import type { NodeRun, NodeStatus, RunError } from './node-run.js';
import type { Decision, EndingOutcome, Skips } from './plan.js';
import { Timers } from './timers.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** Which loop of a run is meant: its back-edge's place in `edges`, and the iterations of the loops around it. */
export interface LoopPlace {
  edge: number;
  path: readonly number[];
}

/** What `loop.ended` says. */
export interface LoopEnd {
  reason: LoopReason;
  at: string;
  taken?: readonly number[];
  failure?: Failure;
}

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

  readonly timers = new Timers();

  /** @param nodes those of the graph; all of them are pending */
  constructor(
    private readonly graph: WorkflowGraph,
    private readonly nodes: ReadonlyMap<string, NodeRun>,
    private readonly run: { error?: RunError },
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

  /** Whether anything is under way of which the run will hear. */
  get isBusy(): boolean {
    return this.byStatus.running.values().some(({ waitsFor }) => waitsFor === undefined);
  }

  /** Whether any node has this status. */
  has(status: NodeStatus): boolean {
    return this.byStatus[status].size > 0;
  }

  /** Whether a failure that nothing took care of ends the run now. */
  get isStruck(): boolean {
    return this.has('failed') && this.graph.definition.onFailure !== 'continue';
  }

  /** What is under way and to be canceled: nobody needs it any more. */
  get unwanted(): NodeRun[] {
    return this.isStruck ? this.active : [];
  }

  /** What is to be found out before the run goes on. */
  get undecided(): Decision[] {
    return [];
  }

  /** What was skipped and is not reported yet. */
  get unreported(): Skips[] {
    return [];
  }

  /** How the run ends, once that was told. */
  get ending(): EndingOutcome | undefined {
    return undefined;
  }

  /** An attempt begins. */
  begin(node: NodeRun, _at: string): void {
    this.move(node, 'running');
  }

  /** A Message goes to its agent. */
  send(node: NodeRun, _at: string): void {
    this.move(node, 'running');
  }

  /** Its agent asks. */
  ask(node: NodeRun, _at: string): void {
    this.move(node, 'input-required');
  }

  /** It does nothing until then. */
  wait(node: NodeRun, waitsFor: NonNullable<NodeRun['waitsFor']>): void {
    node.waitsFor = waitsFor;
    this.move(node, 'running');
  }

  /** @param _taken the edges that were taken, of those for which something had to be decided */
  end(node: NodeRun, status: 'completed' | 'canceled', _taken?: readonly number[]): void {
    this.move(node, status);
  }

  fail(node: NodeRun, error: RunError, _taken?: readonly number[]): void {
    this.run.error ??= error;
    this.move(node, 'failed');
    this.skipAfter(node);
  }

  startItems(_node: NodeRun, _items: readonly JsonValue[]): void {
    return;
  }

  iterate(_loop: LoopPlace, _iteration: number, _at: string | undefined): void {
    return;
  }

  endLoop(_loop: LoopPlace, _end: LoopEnd): void {
    return;
  }

  reported(_instances: readonly string[]): void {
    return;
  }

  /** The run's time is over. */
  expire(): void {
    return;
  }

  beginEnding(_outcome: EndingOutcome, _at: string): void {
    return;
  }

  /** Gives a node its status. What is known of its Message is to be told before. */
  private move(node: NodeRun, status: NodeStatus): void {
    const wasCompleted = node.status === 'completed';
    this.leave(node);
    const moved: { status: NodeStatus } = node;
    moved.status = status;
    this.join(node);
    if (wasCompleted !== (status === 'completed')) this.updateSuccessors(node, wasCompleted ? 1 : -1);
  }

  /** Skips what can no longer run after the failure of a node. */
  private skipAfter({ id }: NodeRun): void {
    if (this.graph.definition.onFailure === 'continue') this.skipDescendants(id);
    else this.skipPending();
  }

  /** What is left when the run has ended was never started, or stopped with the run. */
  settle(at: string | undefined): void {
    for (const node of this.active) {
      if (at !== undefined) node.finishedAt = at;
      this.move(node, 'canceled');
    }
    this.skipPending();
  }

  /** Skips what was not started, where nothing starts any more. */
  private skipPending(): void {
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
