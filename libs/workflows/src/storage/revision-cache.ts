import { LRUCache } from 'lru-cache';
import { getHeapStatistics } from 'node:v8';
import type { RevisionPrecondition } from '#libs/tasks';
import type { WorkflowRevision } from '#libs/workflow-definition';

/** A cached revision with the version of its row. */
interface Kept {
  revision: WorkflowRevision;
  version: string;
}

/** Revision that was the newest of a workflow at the last read; it may be outdated. */
interface Newest {
  revision: string;
  premise: RevisionPrecondition;
}

/** Share of the heap that revisions, and the objects made from them, may use. */
const SHARE = 1 / 8;
/** Heap bytes of a JSON value for each byte of its text; measured on lists of short values. */
const HEAP_PER_BYTE = 4;
/** Heap bytes of the executor, the agent and the rules of a node. */
const HEAP_PER_NODE = 2 * 1024;
const MOST_NEWEST = 10_000;

/**
 * Revisions of workflows that this process has read, for all tenants together. They are weighed, and the least recently
 * used are evicted first. A revision that alone exceeds the limit is not cached.
 */
export class RevisionCache {
  private readonly revisions: LRUCache<string, Kept>;
  /** Limit by size, not by count: LRUCache allocates room for `max` entries up front. */
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
   * Returns a revision; the same object for as long as it is cached.
   * @param version of the row; absent: the one that was read last
   */
  get(key: RevisionKey, version?: string): WorkflowRevision | undefined {
    const found = this.revisions.get(revisionKey(key));
    return version === undefined || found?.version === version ? found?.revision : undefined;
  }

  /**
   * Caches a revision.
   * @param bytes of the definition as JSON
   */
  keepRevision(
    key: RevisionKey,
    revision: WorkflowRevision,
    { version, bytes }: { version: string; bytes: number },
  ): void {
    const size = bytes * HEAP_PER_BYTE + revision.definition.nodes.length * HEAP_PER_NODE + 1;
    this.revisions.set(revisionKey(key), { revision, version }, { size });
  }

  /** Returns the revision that was the newest at the last read, if it is still cached. */
  recentRevision(
    tenant: string,
    name: string,
  ): { revision: WorkflowRevision; premise: RevisionPrecondition } | undefined {
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

function revisionKey({ tenant, name, revision }: RevisionKey): string {
  return `${workflowKey(tenant, name)}/${revision}`;
}

/** Returns the key of a workflow. The name comes first: it has no slash, and a tenant may have any character. */
function workflowKey(tenant: string, name: string): string {
  return `${name}/${tenant.length}:${tenant}`;
}
