import type { JsonValue } from '#libs/protocol';
import type { Instances } from './instances.js';
import type { NodeRun } from './node-run.js';
import type { NodeSets } from './node-sets.js';
import type { WorkflowNode } from './workflow.js';

/** How many entries of a list are at work at once unless its definition says so. */
const CONCURRENCY = 5;

/** What follows for the node that goes through a list. */
export interface ListListener {
  /** All entries that were begun have ended, and no other is: the node's end can be told. */
  over(list: NodeRun): void;
  /** Nobody needs an entry any more that is under way. */
  withdrawn(entry: NodeRun): void;
  /** It was withdrawn, and nothing of it is under way any more. */
  canceled(list: NodeRun): void;
}

/** The entries of lists, each an instance that is made when its turn comes. */
export class Lists {
  /** Lists of which no other entry begins, and how many of theirs were to begin. */
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

  /** An entry has completed, failed or was canceled. */
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

  /** Nobody needs the list any more. */
  withdraw(list: NodeRun): void {
    this.withdrawn.add(list);
    this.close(list);
    this.goOn(list);
  }

  /** The node that goes through it has ended: what its entries came to is in its own result. */
  finish(list: NodeRun): void {
    this.closed.delete(list);
    this.withdrawn.delete(list);
    delete list.each?.items;
    for (const entry of list.each?.runs ?? []) entry.artifacts = [];
  }

  /** No other entry begins, and those that are under way are canceled. */
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
