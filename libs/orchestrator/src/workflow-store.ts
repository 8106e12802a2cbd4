import type { Premise } from '#libs/tasks';
import type { WorkflowDefinition, WorkflowRevision } from './workflow.js';
import type { ListedNode, WorkflowInterface, WorkflowListing } from './workflow-outline.js';

/** One save of a workflow. */
export interface WorkflowSave {
  revision: string;
  savedAt: Date;
}

/** A workflow whose definition is the text that was saved. */
export interface WorkflowText extends Omit<WorkflowRevision, 'definition'> {
  name: string;
  definition: string;
}

/** Which workflows are read as texts. */
export interface TextPageRequest {
  limit: number;
  /** Bytes of definitions; the first workflow is there whatever size it has. */
  most: number;
  afterName?: string;
  /** Waits for the room for so many bytes, before they are read. */
  admit: (bytes: number) => Promise<void>;
}

export interface TextPage {
  workflows: WorkflowText[];
  /** True if there are workflows after these. */
  more: boolean;
}

/** A workflow as the directory lists it. */
export interface ListedWorkflow {
  name: string;
  description?: string;
  nodes: ListedNode[];
}

/** Keeps workflows; every save is a new revision, and old revisions stay readable for the runs that use them. */
export abstract class WorkflowStore {
  /** The workflows of a tenant, which see nothing of any other's; the store itself has those of the tenant ''. */
  abstract inTenant(tenant: string): WorkflowStore;
  /** Differs after every save and delete, whoever made it: what was read from `list` before is outdated then. */
  abstract version(): Promise<string>;
  /** The newest revisions by name: at most `limit`, and fewer where they are large; none after the last. */
  abstract list(limit: number, afterName?: string): Promise<WorkflowRevision[]>;
  /** A page of the newest revisions by name, as texts, of which nothing is kept in memory. */
  abstract texts(page: TextPageRequest): Promise<TextPage>;
  /** Returns the columns for the card of the service, by name; reads no definition. */
  abstract published(): Promise<WorkflowListing[]>;
  /** Returns the inputs and outputs of workflows, by name; reads no definition. */
  abstract interfaces(): Promise<Map<string, WorkflowInterface>>;
  /** Workflows with their nodes, by name, after one or from one on; no definition is read for it. */
  abstract listed(limit: number, after?: { name: string; inclusive: boolean }): Promise<ListedWorkflow[]>;
  /** The newest revision, or the given one (also of a workflow that was deleted since). */
  abstract get(name: string, revision?: string): Promise<WorkflowRevision | undefined>;
  /** What this process read last as the newest revision, if it is in memory, and what has to hold for it to be that still. */
  recent?(name: string): { revision: WorkflowRevision; premise: Premise } | undefined;
  /** Workflows that contain a node of this id, by name; at most `limit`. */
  abstract withNode(nodeId: string, limit: number): Promise<WorkflowRevision[]>;
  /**
   * `undefined` where the name is taken.
   * @throws ProblemError 422 where the tenant keeps as much as it may
   */
  abstract create(definition: WorkflowDefinition): Promise<WorkflowRevision | undefined>;
  /**
   * `undefined` where there is no such workflow, or where its newest revision is none of the given ones.
   * @throws ProblemError 422 where it is larger than the one before, and the tenant keeps as much as it may
   */
  abstract replace(definition: WorkflowDefinition, expected?: readonly string[]): Promise<WorkflowRevision | undefined>;
  /** Whether there was one whose newest revision is one of the given ones. */
  abstract delete(name: string, expected?: readonly string[]): Promise<boolean>;
  /**
   * Does some work whose changes are there all at once, or not at all where it throws. It may be done more than once, and
   * must not use any other store meanwhile.
   * @param names of workflows that it may change: others wait who change them
   */
  abstract atomically<T>(names: readonly string[], work: (store: WorkflowStore) => Promise<T>): Promise<T>;
  /** The names of the workflows that were last saved under a mark, and are there. */
  abstract marked(mark: string): Promise<string[]>;
  /** Says under which mark a workflow was saved. */
  abstract mark(name: string, mark: string): Promise<void>;
  /**
   * Keeps a revision as long as a run, which began with it though there may be newer ones; to be called before the run is
   * made. One that is not made within an hour keeps nothing.
   * @returns `false` where there is no such revision
   */
  abstract keepFor(runId: string, name: string, revision: string): Promise<boolean>;
  /** What was saved under a name and is kept, the newest first; at most `limit`, from before a revision on. */
  abstract saves(name: string, limit: number, before?: string): Promise<WorkflowSave[]>;
}
