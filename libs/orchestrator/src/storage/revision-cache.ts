import { getHeapStatistics } from 'node:v8';
import type { Premise } from '#libs/tasks';
import { LRUCache } from 'lru-cache';
import type { WorkflowRevision } from '../workflow.js';

/** A revision in memory, and what changes with the row that it was read from. */
interface Kept {
  revision: WorkflowRevision;
  version: string;
}

/** The revision that was the newest of a workflow when it was read last, which it need not be any more. */
interface Newest {
  revision: string;
  premise: Premise;
}

/** The share of the heap that revisions, and what is made of them, may take. */
const SHARE = 1 / 8;
/** Bytes of memory that a JSON value takes for each byte of its text; measured on lists of short values. */
const HEAP_PER_BYTE = 4;
/** The executor, the agent and the rules of a node. */
const HEAP_PER_NODE = 2 * 1024;
const MOST_NEWEST = 10_000;

/**
 * The revisions of workflows that this process has read, those of all tenants together: they are weighed, and what was
 * not used for longest goes first. A revision that alone outweighs the room is not kept.
 */
export class RevisionCache {
  private readonly revisions: LRUCache<string, Kept>;
  /** Sized and not counted: room for as many as are counted would be taken at once. */
  private readonly newest = new LRUCache<string, Newest>({ maxSize: MOST_NEWEST, sizeCalculation: () => 1 });

  /** @param most bytes of the heap */
  constructor(most = Math.floor(getHeapStatistics().heap_size_limit * SHARE)) {
    this.revisions = new LRUCache({ maxSize: most });
  }

  /** Weight of what is kept, in bytes of the heap. */
  get weight(): number {
    return this.revisions.calculatedSize;
  }

  /**
   * The same object for as long as it is kept.
   * @param version that of the row; absent: whatever was read last
   */
  get(key: RevisionKey, version?: string): WorkflowRevision | undefined {
    const found = this.revisions.get(textOf(key));
    return version === undefined || found?.version === version ? found?.revision : undefined;
  }

  /** @param bytes those of the definition as JSON */
  keep(key: RevisionKey, revision: WorkflowRevision, { version, bytes }: { version: string; bytes: number }): void {
    const size = bytes * HEAP_PER_BYTE + revision.definition.nodes.length * HEAP_PER_NODE + 1;
    this.revisions.set(textOf(key), { revision, version }, { size });
  }

  /** What was the newest, if it is still in memory. */
  recent(tenant: string, name: string): { revision: WorkflowRevision; premise: Premise } | undefined {
    const found = this.newest.get(workflowKey(tenant, name));
    const revision = found && this.get({ tenant, name, revision: found.revision });
    return revision && { revision, premise: found.premise };
  }

  noteNewest(tenant: string, name: string, newest: Newest | undefined): void {
    if (newest) this.newest.set(workflowKey(tenant, name), newest);
    else this.newest.delete(workflowKey(tenant, name));
  }
}

interface RevisionKey {
  tenant: string;
  name: string;
  revision: string;
}

function textOf({ tenant, name, revision }: RevisionKey): string {
  return `${workflowKey(tenant, name)}/${revision}`;
}

/** The name comes first: it has no slash, and a tenant may have any character. */
function workflowKey(tenant: string, name: string): string {
  return `${name}/${tenant.length}:${tenant}`;
}
