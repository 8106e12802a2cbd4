import type { CallChains } from '#libs/agents';
import type { ProcessStart } from '#libs/durable';
import { runEventNote, type StreamResponse } from '#libs/protocol';
import { InFlight } from '#libs/service';
import { isOwn, type NodeSets } from '../state/frontier.js';
import type { NodeInstance } from '../state/node-instance.js';
import { runParked } from '../state/run-steps.js';
import type { WorkPlace } from '../work/node-room.js';
import type { RunWork } from '../work/work-budget.js';

/**
 * Counts the active nodes of one run against the limit that all runs of the process share. A node is active while its
 * agent has been called and has not answered. These nodes do not count: nodes that ask a question, wait for a time or
 * process a list, and nodes whose Task is a parked run. `NodeRoom` divides the limit among runs; `parallel` limits the
 * nodes of a run by its definition (`Frontier.selectNodesToStart`).
 */
export class RunRoom {
  /** Nodes whose Task is a parked run: a run that only waits for a time, and that no replica executes. */
  private readonly parked = new Set<NodeInstance>();

  constructor(
    private readonly work: Pick<RunWork, 'nodes'>,
    private readonly sets: Pick<NodeSets, 'busy'>,
  ) {}

  /** Returns the nodes that may start now within the limit, in their order. The others have to wait. */
  admitNodes(nodes: readonly NodeInstance[]): NodeInstance[] {
    this.countBusyNodes();
    const calling = nodes.filter(isCalled).length;
    let room = this.work.nodes.reserveNodes(calling);
    return room === calling ? [...nodes] : nodes.filter((node) => !isCalled(node) || room-- > 0);
  }

  /**
   * Updates the count of active nodes if an event of a node's Task shows that the Task now is a parked run (a run that
   * only waits for a time), or no longer is one.
   */
  receiveReport(node: NodeInstance, response: StreamResponse): void {
    if (!('statusUpdate' in response)) return;
    const isParked = runEventNote(response.statusUpdate.metadata)?.type === runParked.type;
    if (isParked === this.parked.has(node)) return;
    if (isParked) this.parked.add(node);
    else this.parked.delete(node);
    this.countBusyNodes();
  }

  private countBusyNodes(): void {
    const { busy } = this.sets;
    for (const node of this.parked) if (!busy.has(node)) this.parked.delete(node);
    let nodes = -this.parked.size;
    for (const node of busy) if (isCalled(node)) nodes += 1;
    this.work.nodes.occupyNodes(nodes);
  }
}

/**
 * Returns the caller account, the root run and the nesting depth to which a run's work is charged. They are read from
 * the run's call chain.
 */
export function runWorkPlace(
  chains: CallChains,
  { context, links }: Pick<ProcessStart, 'context' | 'links'>,
): WorkPlace {
  const { root = context.taskId, depth: level } = chains.findPlace(links);
  return { account: InFlight.accountOf(context.call.scope), root, level };
}

/** True if an agent is called for a node when it starts. */
function isCalled(node: NodeInstance): boolean {
  return node.each === undefined && !isOwn(node);
}

/** Maximum time for which a run works before it yields to the event loop, in milliseconds. */
const LONGEST_STRETCH = 10;

/** Yields to the event loop between pieces of work that together may take long. */
export class EventLoopYield {
  private since = performance.now();

  /**
   * @param evaluates true for a run with expressions. Such a run also yields, and waits, while it has used too many
   *   evaluation steps (StepBudget)
   */
  constructor(
    private readonly work: Pick<RunWork, 'steps' | 'nextTurn'>,
    private readonly evaluates: boolean,
    private readonly signal: AbortSignal,
  ) {}

  /** True if the run should yield now. */
  get isDue(): boolean {
    return performance.now() - this.since >= LONGEST_STRETCH || (this.evaluates && this.work.steps.isOwing);
  }

  /** Yields to the event loop. @throws the reason of the signal if it is aborted during the wait */
  async yieldTurn(): Promise<void> {
    await this.work.nextTurn(this.signal);
    if (this.evaluates) await this.work.steps.whenPaid(this.signal);
    this.since = performance.now();
  }
}

/** Step of a run that yields no event. It only waits until the run may evaluate expressions again (see StepBudget). */
export class EvaluationTurn implements AsyncIterable<never> {
  constructor(
    private readonly steps: RunWork['steps'],
    private readonly signal: AbortSignal,
  ) {}

  [Symbol.asyncIterator](): AsyncIterator<never, undefined> {
    const { steps, signal } = this;
    return {
      next: async () => {
        await steps.whenPaid(signal);
        return { done: true, value: undefined };
      },
    };
  }
}
