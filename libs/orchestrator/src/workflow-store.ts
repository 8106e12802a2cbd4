import type { WorkflowDefinition, WorkflowRevision } from './workflow.js';

/** Keeps workflows; every save is a new revision, and old revisions stay readable for the runs that use them. */
export abstract class WorkflowStore {
  /** The workflows of a tenant, which see nothing of any other's; the store itself has those of the tenant ''. */
  abstract inTenant(tenant: string): WorkflowStore;
  /** Differs after every save and delete, whoever made it: what was read from `list` before is outdated then. */
  abstract version(): Promise<string>;
  abstract list(limit: number, afterName?: string): Promise<WorkflowRevision[]>;
  /** The newest revision, or the given one (also of a workflow that was deleted since). */
  abstract get(name: string, revision?: string): Promise<WorkflowRevision | undefined>;
  /** Workflows that contain a node of this id, by name; at most `limit`. */
  abstract withNode(nodeId: string, limit: number): Promise<WorkflowRevision[]>;
  /** `undefined` where the name is taken. */
  abstract create(definition: WorkflowDefinition): Promise<WorkflowRevision | undefined>;
  /** `undefined` where there is no such workflow. */
  abstract replace(definition: WorkflowDefinition): Promise<WorkflowRevision | undefined>;
  /** Whether there was one. */
  abstract delete(name: string): Promise<boolean>;
}
