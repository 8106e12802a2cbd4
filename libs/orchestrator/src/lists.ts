import type { JsonValue } from '#libs/protocol';
import type { Instances } from './instances.js';
import type { NodeRun } from './node-run.js';
import type { NodeSets } from './node-sets.js';
import type { WorkflowNode } from './workflow.js';

/** Number of entries of a list at work at once, unless its definition sets another. */
const CONCURRENCY = 5;

/** Listener for the nodes that iterate over lists. */
export interface ListListener {
  /** Called when all started entries have ended and no other starts: the node can end. */
  over(list: NodeRun): void;
  /** Called for an entry under way that is no longer needed. */
  withdrawn(entry: NodeRun): void;
  /** Called when nothing of a withdrawn list is under way any more. */
  canceled(list: NodeRun): void;
}

/** Entries of lists. The instance of an entry is created when its turn comes. */
export class Lists {
  /** Lists of which no other entry starts, each with the number of its skipped entries. */
  private readonly closed = new Map<NodeRun, number>();
  private readonly withdrawn = new Set<NodeRun>();

  constructor(
    private readonly instances: Instances,
    private readonly sets: NodeSets,
    private readonly nodeOf: (id: string) => WorkflowNode,
    private readonly listener: ListListener,
  ) {}

  start(list: NodeRun, items: readonly JsonValue[]): void {
    const { each } = list;
    if (each === undefined || each.items !== undefined) return;
    each.items = items;
    each.total = items.length;
    this.goOn(list);
  }

  /** Counts an entry that has completed, failed or was canceled, and starts the next entries. */
  ended(entry: NodeRun): void {
    const { list } = entry;
    if (list?.each === undefined) return;
    const { each } = list;
    if (entry.status === 'completed' || entry.status === 'failed' || entry.status === 'canceled')
      each[entry.status] += 1;
    if (entry.status === 'failed') each.firstFailed ??= entry;
    const tolerates = this.nodeOf(list.id).each?.onFailure === 'collect';
    if (entry.status === 'failed' && !tolerates) this.close(list);
    this.goOn(list);
  }

  /** Stops a list that is no longer needed. */
  withdraw(list: NodeRun): void {
    this.withdrawn.add(list);
    this.close(list);
    this.goOn(list);
  }

  /** Drops the items and the entries' Artifacts once the node has ended: its own result has them. */
  finish(list: NodeRun): void {
    this.closed.delete(list);
    this.withdrawn.delete(list);
    delete list.each?.items;
    for (const entry of list.each?.runs ?? []) entry.artifacts = [];
  }

  /** Starts no further entries, and withdraws those under way. */
  private close(list: NodeRun): void {
    if (this.closed.has(list)) return;
    let skipped = 0;
    for (const entry of list.each?.runs ?? []) {
      if (entry.status === 'pending') this.sets.skip(entry, 'canceled');
      if (entry.status === 'skipped') skipped += 1;
      if (entry.status === 'running' || entry.status === 'input-required') this.listener.withdrawn(entry);
    }
    this.closed.set(list, skipped);
  }

  private goOn(list: NodeRun): void {
    const { each } = list;
    if (each === undefined) return;
    const { concurrency = CONCURRENCY } = this.nodeOf(list.id).each ?? {};
    const ended = each.completed + each.failed + each.canceled;
    const skipped = this.closed.get(list);
    if (skipped === undefined) {
      while (each.runs.length < each.total && each.runs.length - ended < concurrency) this.begin(list, each.runs);
      if (each.items !== undefined && ended === each.total) this.listener.over(list);
    } else if (each.runs.length === ended + skipped) {
      if (this.withdrawn.has(list)) this.listener.canceled(list);
      else this.listener.over(list);
    }
  }

  private begin(list: NodeRun, runs: NodeRun[]): void {
    const entry = this.instances.entry(this.nodeOf(list.id), list, runs.length);
    runs.push(entry);
    this.sets.admit(entry);
  }
}
