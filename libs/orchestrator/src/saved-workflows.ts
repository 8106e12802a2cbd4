import type { WorkflowRevision } from './workflow.js';
import type { WorkflowStore } from './workflow-store.js';

/** Where workflows are looked up by name, and by revision where one is meant. */
export type SavedWorkflows = Pick<WorkflowStore, 'get'>;

/** The same, each read once. */
export class ReadWorkflows implements SavedWorkflows {
  private readonly read = new Map<string, Promise<WorkflowRevision | undefined>>();

  constructor(private readonly store: SavedWorkflows) {}

  /** How many were looked up. */
  get size(): number {
    return this.read.size;
  }

  get(name: string, revision?: string): Promise<WorkflowRevision | undefined> {
    const key = `${name}@${revision ?? ''}`;
    const known = this.read.get(key) ?? this.store.get(name, revision);
    this.read.set(key, known);
    return known;
  }
}
