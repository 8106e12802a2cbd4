import type { ConfigurationSession } from '#libs/configuration';
import type { SkillSchema } from '#libs/agents';
import { ProblemError } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import type { RevisionPrecondition } from '#libs/tasks';
import { inlineDefinition, type WorkflowDefinition, type WorkflowRevision } from '#libs/workflow-definition';

/** Entry of a workflow on the card of the service. */
export interface WorkflowListing {
  name: string;
  revision: string;
  updatedAt: Date;
  /** Description that the author of the workflow wrote; absent if there is none. */
  description?: string;
}

/** Inputs and outputs of a workflow, with an example, for authenticated callers. */
export interface WorkflowInterface extends SkillSchema {
  /** Example of the inputs as JSON; absent for a workflow without inputs. */
  example?: string;
}

/** Entry of a node in the agent directory. */
export interface ListedNode {
  /** Id of the node; for a node of an inline workflow `outer.inner`. */
  id: string;
  type: string;
  /** Description that the author of the node wrote; absent if there is none. */
  description?: string;
}

/** Outline of a workflow for cards and directories. Its size is bounded, whatever the size of the definition. */
export interface WorkflowSummary {
  description?: string;
  interface: WorkflowInterface;
  /** Nodes of the workflow, sorted by id. */
  nodes: ListedNode[];
}

/** Data about a save: its author, and the revision that it restores. */
export interface SaveNote {
  /** Name of the caller who saves; absent without authentication. */
  author?: string;
  /** Number of the earlier revision that the save restores; absent for any other save. */
  restoredFrom?: string;
}

/**
 * Returns the data to store with a save (SaveNote).
 * @param owner name of the caller who saves; `''` without authentication
 */
export function noteOf(owner: string): SaveNote {
  return owner === '' ? {} : { author: owner };
}

/** A save of a workflow, which created a revision. */
export interface WorkflowSave extends SaveNote {
  revision: string;
  savedAt: Date;
  /**
   * Time at which the workflow of this revision was created. If a workflow is deleted and created again, the revisions
   * of both have different times. Absent for a revision of a deleted workflow that an earlier version of the service
   * saved.
   */
  createdAt?: Date;
}

/** Workflow with its definition as JSON text, which was not parsed. */
export interface WorkflowText extends Omit<WorkflowRevision, 'definition'> {
  name: string;
  definition: string;
}

/** Request for a page of workflows with unparsed definitions. */
export interface TextPageRequest {
  limit: number;
  /** Maximum size of all definitions on the page, in bytes. The first workflow is included whatever its size. */
  most: number;
  /** Name of the last workflow of the previous page; absent for the first page. */
  afterName?: string;
  /**
   * Called with the size of the definitions before they are read. The read continues when the returned promise
   * resolves.
   */
  admit: (bytes: number) => Promise<void>;
}

export interface TextPage {
  workflows: WorkflowText[];
  /** True if there are workflows after this page. */
  more: boolean;
}

/** Entry of a workflow in the agent directory. */
export interface ListedWorkflow {
  name: string;
  description?: string;
  nodes: ListedNode[];
}

/**
 * Stores the workflows of a tenant. Every save is a new revision; old revisions stay readable for the runs that use
 * them.
 */
export abstract class WorkflowStore {
  /** Returns the store of a tenant, isolated from other tenants. The injected store is that of the tenant ''. */
  abstract inTenant(tenant: string): WorkflowStore;
  /**
   * Returns a version of the tenant's workflows. It changes with every save and delete on any replica; earlier results
   * of the `list…` methods are then outdated.
   */
  abstract currentVersion(): Promise<string>;
  /**
   * Returns newest revisions, sorted by workflow name: at most `limit`, and fewer if they are large. Empty after the
   * last workflow.
   */
  abstract listRevisions(limit: number, afterName?: string): Promise<WorkflowRevision[]>;
  /** Returns a page of newest revisions, sorted by workflow name, as texts that are not cached. */
  abstract listTexts(page: TextPageRequest): Promise<TextPage>;
  /** Returns the workflows for the card of the service, sorted by name. Reads summaries, not definitions. */
  abstract listPublished(): Promise<WorkflowListing[]>;
  /** Returns the inputs and outputs of workflows, by name. Reads summaries, not definitions. */
  abstract listInterfaces(): Promise<Map<string, WorkflowInterface>>;
  /**
   * Returns at most `limit` workflows with their nodes, sorted by name. Begins after the name `after.name`, or with
   * that name if `after.inclusive` is true. Reads summaries, not definitions.
   */
  abstract listWithNodes(limit: number, after?: { name: string; inclusive: boolean }): Promise<ListedWorkflow[]>;
  /**
   * Returns a revision of a workflow: the given one, even if the workflow is deleted, or else the newest one.
   * `undefined` if there is none.
   */
  abstract get(name: string, revision?: string): Promise<WorkflowRevision | undefined>;
  /**
   * Returns the newest revision of a workflow from this process's cache, without a query; `undefined` if none is cached.
   * A later save at any replica makes the cached revision outdated. So the statement that creates or reads a Task with
   * this revision must check `premise`, which holds only while the revision is the newest one.
   */
  recentRevision?(name: string): { revision: WorkflowRevision; premise: RevisionPrecondition } | undefined;
  /**
   * Returns the newest revisions of workflows that contain a node of this id, sorted by workflow name; at most `limit`.
   */
  abstract withNode(nodeId: string, limit: number): Promise<WorkflowRevision[]>;
  /**
   * Creates a workflow. Returns `undefined` if a workflow of this name exists.
   * @throws ProblemError 422 if a limit of the tenant is reached
   */
  abstract createWorkflow(definition: WorkflowDefinition, note?: SaveNote): Promise<WorkflowRevision | undefined>;
  /**
   * Saves the next revision of a workflow. Returns `undefined` if the workflow does not exist, or its newest revision
   * is not in `expected`.
   * @throws ProblemError 422 if the new definition is larger than the previous one, and exceeds a limit of the tenant
   */
  abstract replaceWorkflow(
    definition: WorkflowDefinition,
    expected?: readonly string[],
    note?: SaveNote,
  ): Promise<WorkflowRevision | undefined>;
  /** Deletes a workflow. Returns false if the workflow does not exist, or its newest revision is not in `expected`. */
  abstract delete(name: string, expected?: readonly string[]): Promise<boolean>;
  /**
   * Runs work in one transaction: all of its changes are saved, or none. The work may run more than once, and must use
   * no other store meanwhile. Its `session` runs statements for other tables in the same transaction.
   * @param names names of the workflows that the work may change; concurrent changes of these workflows wait
   */
  abstract runAtomically<T>(
    names: readonly string[],
    work: (store: WorkflowStore, session: ConfigurationSession) => Promise<T>,
  ): Promise<T>;
  /**
   * Returns the names of existing workflows that were last applied with a mark (a label of their origin, such as a
   * folder).
   */
  abstract listMarked(mark: string): Promise<string[]>;
  /**
   * Sets the mark under which a workflow was last applied: the label of its origin, such as a folder. Replaces the
   * previous mark.
   */
  abstract markWorkflow(name: string, mark: string): Promise<void>;
  /**
   * Protects a revision from being purged as long as a run exists that begins with it, even if newer revisions exist.
   * Call it before the run is created. If the run is not created within an hour, the revision may be purged.
   * @returns false if the revision does not exist
   */
  abstract keepFor(runId: string, name: string, revision: string): Promise<boolean>;
  /**
   * Returns the stored saves of a workflow, newest first; at most `limit`.
   * @param before revision; only older saves are returned
   */
  abstract listSaves(name: string, limit: number, before?: string): Promise<WorkflowSave[]>;
}

/**
 * Cached revisions of inline workflows, by the config of their node. Each stays cached until its config is
 * garbage-collected.
 */
const made = new WeakMap<JsonObject, WorkflowRevision>();

/**
 * Returns the inline workflow of a node as a revision; `undefined` if the node has no inline workflow.
 * - Its name is `outer.node`; its revision number is that of the surrounding workflow.
 * - Its language is that of the surrounding workflow, unless the inline definition has a `language`.
 */
export function findInlineRevision(
  { definition, ...saved }: WorkflowRevision,
  nodeId: string,
): WorkflowRevision | undefined {
  const node = definition.nodes.find(({ id }) => id === nodeId);
  if (node === undefined) return undefined;
  const known = made.get(node.config);
  if (known?.revision === saved.revision && known.definition.name === `${definition.name}.${nodeId}`) return known;
  const body = inlineDefinition(node, definition.language);
  if (body === undefined) return undefined;
  const found = { ...saved, definition: { ...body, name: `${definition.name}.${nodeId}` } };
  made.set(node.config, found);
  return found;
}

/**
 * Returns a revision of a saved workflow, or of an inline workflow in its nodes (name `outer.node.node`). If no
 * revision is given, returns the newest one.
 */
export async function findRevision(
  store: WorkflowStore,
  name: string,
  revision?: string,
): Promise<WorkflowRevision | undefined> {
  const [workflow = '', ...nodes] = name.split('.');
  const found = await store.get(workflow, revision);
  return nodes.reduce<WorkflowRevision | undefined>((around, id) => around && findInlineRevision(around, id), found);
}

/** Maximum number of workflows that a tenant may have; deleted ones do not count. */
export const MOST_WORKFLOWS = 2_000;

/** Maximum size of all newest definitions of a tenant together, in bytes. */
export const MOST_TENANT_BYTES = 16 * 1024 * 1024;

/**
 * Sizes of a tenant's definitions before a save: number and total bytes of its other workflows, and bytes of the
 * workflow that is saved (0 if it is new).
 */
export interface HeldDefinitions {
  others: number;
  otherBytes: number;
  ownBytes: number;
}

/**
 * Rejects a save that exceeds the limits of the tenant. A save that does not enlarge a workflow is never rejected, so
 * that definitions saved before there were limits can still be changed.
 * @param bytes size of the definition to save
 * @throws ProblemError 422 if there would be more than MOST_WORKFLOWS workflows, or more than MOST_TENANT_BYTES bytes
 */
export function assertTenantHasRoom(bytes: number, { others, otherBytes, ownBytes }: HeldDefinitions): void {
  if (ownBytes === 0 && others >= MOST_WORKFLOWS) {
    throw createLimitProblem(
      `a tenant has at most ${MOST_WORKFLOWS} workflows, and this one has ${others}: delete one first`,
    );
  }
  if (bytes > ownBytes && otherBytes + bytes > MOST_TENANT_BYTES) {
    throw createLimitProblem(
      `the definitions of a tenant have at most ${MOST_TENANT_BYTES} bytes together, and these would have ` +
        `${otherBytes + bytes}: delete a workflow first`,
    );
  }
}

function createLimitProblem(detail: string): ProblemError {
  return new ProblemError(422, detail, [{ path: '', detail }], 'TOO_MANY_WORKFLOWS');
}
