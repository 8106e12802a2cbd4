import type { CallChains, RunWork, WorkPlace } from '#libs/executor';
import type { ProcessStart } from '#libs/process';
import { runEventNote, type StreamResponse } from '#libs/protocol';
import { InFlight } from '#libs/service';
import { runParked } from './control-steps.js';
import type { NodeInstance } from './node-run.js';
import { isOwn, type NodeSets } from './node-sets.js';

/**
 * Counts the active nodes of one run for the work budget of the process: nodes whose agent was called and has not
 * answered. Nodes that ask, wait for a time, process a list, or have a parked run do not count.
 */
export class RunRoom {
  /** Nodes whose Task is a parked run. */
  private readonly parked = new Set<NodeInstance>();

  constructor(
    private readonly work: Pick<RunWork, 'nodes'>,
    private readonly sets: Pick<NodeSets, 'busy'>,
  ) {}

  /** Returns the nodes that may start now, in their order. The others wait. */
  admitNodes(nodes: readonly NodeInstance[]): NodeInstance[] {
    this.countBusyNodes();
    const calling = nodes.filter(isCalled).length;
    let room = this.work.nodes.reserveNodes(calling);
    return room === calling ? [...nodes] : nodes.filter((node) => !isCalled(node) || room-- > 0);
  }

  /** Updates whether the Task of a node is a parked run. */
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

/** Returns the account, root and level of a run's work, from the call chain that led to it. */
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
