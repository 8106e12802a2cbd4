import type { WorkflowRevision } from '../workflow.js';

interface Kept {
  revision: WorkflowRevision;
  /** Changes with the row that the revision was read from. */
  version: string;
}

/** Revisions that were read before; the most recently used are kept. Which revision is the newest is not in here. */
export class RevisionCache {
  private readonly kept = new Map<string, Kept>();

  constructor(private readonly capacity = 1000) {}

  /** @param version asks for what was read from that very row; absent: whatever was read last */
  get(name: string, revision: string, version?: string): WorkflowRevision | undefined {
    const key = keyOf(name, revision);
    const found = this.kept.get(key);
    if (!found || (version !== undefined && found.version !== version)) return undefined;
    this.kept.delete(key);
    this.kept.set(key, found);
    return found.revision;
  }

  put(revision: WorkflowRevision, version: string): void {
    const key = keyOf(revision.definition.name, revision.revision);
    this.kept.delete(key);
    this.kept.set(key, { revision, version });
    if (this.kept.size <= this.capacity) return;
    const [oldest] = this.kept.keys();
    if (oldest !== undefined) this.kept.delete(oldest);
  }
}

function keyOf(name: string, revision: string): string {
  return `${name}/${revision}`;
}
