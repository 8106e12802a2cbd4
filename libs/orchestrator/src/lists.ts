import type { JsonValue } from '#libs/protocol';
import type { Instances } from './instances.js';
import type { NodeInstance } from './node-run.js';
import type { NodeSets } from './node-sets.js';
import type { WorkflowNode } from './workflow.js';

/** Number of entries of a list at work at once, unless its definition sets another. */
const CONCURRENCY = 5;

/** Listener for the nodes that iterate over lists. */
export interface ListListener {
  /** Called when all started entries have ended and no other starts: the node can end. */
  onListOver(list: NodeInstance): void;
  /** Called for an entry under way that is no longer needed. */
  onEntryWithdrawn(entry: NodeInstance): void;
  /** Called when nothing of a withdrawn list is under way any more. */
  onListCanceled(list: NodeInstance): void;
}

/** Entries of lists. The instance of an entry is created when its turn comes. */
export class Lists {
  /** Lists of which no other entry starts, each with the number of its skipped entries. */
  private readonly closed = new Map<NodeInstance, number>();
  private readonly withdrawn = new Set<NodeInstance>();

  constructor(
    private readonly instances: Instances,
    private readonly sets: NodeSets,
    private readonly nodeOf: (id: string) => WorkflowNode,
    private readonly listener: ListListener,
  ) {}

  startList(list: NodeInstance, items: readonly JsonValue[]): void {
    const { each } = list;
    if (each === undefined || each.items !== undefined) return;
    each.items = items;
    each.total = items.length;
    this.advanceList(list);
  }

  /** Counts an entry that has completed, failed or was canceled, and starts the next entries. */
  recordEntryEnd(entry: NodeInstance): void {
    const { list } = entry;
    if (list?.each === undefined) return;
    const { each } = list;
    if (entry.status === 'completed' || entry.status === 'failed' || entry.status === 'canceled')
      each[entry.status] += 1;
    if (entry.status === 'failed') each.firstFailed ??= entry;
    const tolerates = this.nodeOf(list.id).each?.onFailure === 'collect';
    if (entry.status === 'failed' && !tolerates) this.closeList(list);
    this.advanceList(list);
  }

  /** Stops a list that is no longer needed. */
  withdrawList(list: NodeInstance): void {
    this.withdrawn.add(list);
    this.closeList(list);
    this.advanceList(list);
  }

  /** Drops the items and the entries' Artifacts once the node has ended: its own result has them. */
  finishList(list: NodeInstance): void {
    this.closed.delete(list);
    this.withdrawn.delete(list);
    delete list.each?.items;
    for (const entry of list.each?.runs ?? []) entry.artifacts = [];
  }

  /** Starts no further entries, and withdraws those under way. */
  private closeList(list: NodeInstance): void {
    if (this.closed.has(list)) return;
    let skipped = 0;
    for (const entry of list.each?.runs ?? []) {
      if (entry.status === 'pending') this.sets.skipNode(entry, 'canceled');
      if (entry.status === 'skipped') skipped += 1;
      if (entry.status === 'running' || entry.status === 'input-required') this.listener.onEntryWithdrawn(entry);
    }
    this.closed.set(list, skipped);
  }

  private advanceList(list: NodeInstance): void {
    const { each } = list;
    if (each === undefined) return;
    const { concurrency = CONCURRENCY } = this.nodeOf(list.id).each ?? {};
    const ended = each.completed + each.failed + each.canceled;
    const skipped = this.closed.get(list);
    if (skipped === undefined) {
      while (each.runs.length < each.total && each.runs.length - ended < concurrency) this.beginEntry(list, each.runs);
      if (each.items !== undefined && ended === each.total) this.listener.onListOver(list);
    } else if (each.runs.length === ended + skipped) {
      if (this.withdrawn.has(list)) this.listener.onListCanceled(list);
      else this.listener.onListOver(list);
    }
  }

  private beginEntry(list: NodeInstance, runs: NodeInstance[]): void {
    const entry = this.instances.addListEntry(this.nodeOf(list.id), list, runs.length);
    runs.push(entry);
    this.sets.markStartable(entry);
  }
}
