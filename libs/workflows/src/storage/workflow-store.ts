import type { SkillSchema } from '#libs/executor';
import { ProblemError } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import type { RevisionPrecondition } from '#libs/tasks';
import { inlineDefinition, type WorkflowDefinition, type WorkflowRevision } from '#libs/workflow-definition';

/** A workflow on the card of the service. */
export interface WorkflowListing {
  name: string;
  revision: string;
  updatedAt: Date;
  /** Description of the author, if any. */
  description?: string;
}

/** Inputs and outputs of a workflow, with an example, for authenticated callers. */
export interface WorkflowInterface extends SkillSchema {
  /** Example of the inputs; absent without inputs. */
  example?: string;
}

/** A node in the directory. */
export interface ListedNode {
  /** Id of the node; for a node of an inline workflow `around.node`. */
  id: string;
  type: string;
  /** Description of the author, if any. */
  description?: string;
}

/** Outline of a workflow. Its size is bounded, whatever the size of the definition. */
export interface WorkflowSummary {
  description?: string;
  interface: WorkflowInterface;
  /** Nodes sorted by id. */
  nodes: ListedNode[];
}

/** A save of a workflow. */
export interface WorkflowSave {
  revision: string;
  savedAt: Date;
}

/** A workflow with its definition as the saved text. */
export interface WorkflowText extends Omit<WorkflowRevision, 'definition'> {
  name: string;
  definition: string;
}

/** Page of workflows to read as texts. */
export interface TextPageRequest {
  limit: number;
  /** Limit of the definitions in bytes; the first workflow is included at any size. */
  most: number;
  afterName?: string;
  /** Reserves room for the bytes before they are read; waits for it. */
  admit: (bytes: number) => Promise<void>;
}

export interface TextPage {
  workflows: WorkflowText[];
  /** True if there are workflows after these. */
  more: boolean;
}

/** A workflow in the directory. */
export interface ListedWorkflow {
  name: string;
  description?: string;
  nodes: ListedNode[];
}

/** Stores workflows. Every save is a new revision; old revisions stay readable for the runs that use them. */
export abstract class WorkflowStore {
  /** Returns the store of a tenant, isolated from other tenants; the store itself is that of the tenant ''. */
  abstract inTenant(tenant: string): WorkflowStore;
  /**
   * Returns a version that changes with every save and delete on any replica; earlier results of `listRevisions` are then
   * outdated.
   */
  abstract currentVersion(): Promise<string>;
  /** Returns newest revisions by name: at most `limit`, fewer if they are large, none after the last. */
  abstract listRevisions(limit: number, afterName?: string): Promise<WorkflowRevision[]>;
  /** Returns a page of newest revisions by name, as texts that are not cached. */
  abstract listTexts(page: TextPageRequest): Promise<TextPage>;
  /** Returns the columns for the card of the service, by name; reads no definition. */
  abstract listPublished(): Promise<WorkflowListing[]>;
  /** Returns the inputs and outputs of workflows, by name; reads no definition. */
  abstract listInterfaces(): Promise<Map<string, WorkflowInterface>>;
  /** Returns workflows with their nodes, by name, after a name or from it on; reads no definition. */
  abstract listWithNodes(limit: number, after?: { name: string; inclusive: boolean }): Promise<ListedWorkflow[]>;
  /** Returns the newest revision, or the given one (including those of deleted workflows). */
  abstract get(name: string, revision?: string): Promise<WorkflowRevision | undefined>;
  /**
   * Returns the revision that this process last read as the newest, if it is cached, with the condition under which it
   * still is.
   */
  recentRevision?(name: string): { revision: WorkflowRevision; premise: RevisionPrecondition } | undefined;
  /** Returns workflows that contain a node of this id, by name; at most `limit`. */
  abstract withNode(nodeId: string, limit: number): Promise<WorkflowRevision[]>;
  /**
   * Creates a workflow. Returns `undefined` if the name is taken.
   * @throws ProblemError 422 if the tenant's limit is reached
   */
  abstract createWorkflow(definition: WorkflowDefinition): Promise<WorkflowRevision | undefined>;
  /**
   * Saves the next revision. Returns `undefined` if the workflow does not exist, or its newest revision is none of
   * those given.
   * @throws ProblemError 422 if it is larger than the previous one, and the tenant's limit is reached
   */
  abstract replaceWorkflow(
    definition: WorkflowDefinition,
    expected?: readonly string[],
  ): Promise<WorkflowRevision | undefined>;
  /** Deletes a workflow. Returns false if there is none whose newest revision is one of those given. */
  abstract delete(name: string, expected?: readonly string[]): Promise<boolean>;
  /**
   * Runs work in a transaction, all or nothing. The work may run more than once, and must not use another store
   * meanwhile.
   * @param names of workflows that it may change; concurrent changes of them wait
   */
  abstract runAtomically<T>(names: readonly string[], work: (store: WorkflowStore) => Promise<T>): Promise<T>;
  /** Returns the names of existing workflows that were last saved under a mark. */
  abstract listMarked(mark: string): Promise<string[]>;
  /** Sets the mark under which a workflow was saved. */
  abstract markWorkflow(name: string, mark: string): Promise<void>;
  /**
   * Keeps a revision as long as a run that began with it, although there may be newer ones. Call it before the run is
   * created; a run that is not created within an hour keeps nothing.
   * @returns `false` if the revision does not exist
   */
  abstract keepFor(runId: string, name: string, revision: string): Promise<boolean>;
  /** Returns the stored saves of a workflow, newest first; at most `limit`, older than a revision. */
  abstract listSaves(name: string, limit: number, before?: string): Promise<WorkflowSave[]>;
}

/** Revisions of inline workflows, by the config of their node. They are kept for as long as the config is. */
const made = new WeakMap<JsonObject, WorkflowRevision>();

/**
 * Returns the inline workflow of a node, named `around.node` and with the same revision; `undefined` if there is none.
 * The inline workflow has the language of the enclosing one unless it sets its own.
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

/** Returns a revision of a workflow, or of an inline workflow in its nodes (`around.node.node`). */
export async function findRevision(
  store: WorkflowStore,
  name: string,
  revision?: string,
): Promise<WorkflowRevision | undefined> {
  const [workflow = '', ...nodes] = name.split('.');
  const found = await store.get(workflow, revision);
  return nodes.reduce<WorkflowRevision | undefined>((around, id) => around && findInlineRevision(around, id), found);
}

/** Maximum number of workflows that a tenant keeps at once; deleted ones do not count. */
export const MOST_WORKFLOWS = 2_000;

/** Maximum number of bytes of all newest definitions of a tenant. */
export const MOST_TENANT_BYTES = 16 * 1024 * 1024;

/** Storage that a tenant uses for its other workflows, and bytes of the saved one; 0 if that is new. */
export interface HeldDefinitions {
  others: number;
  otherBytes: number;
  ownBytes: number;
}

/**
 * Rejects a save that exceeds the limits of the tenant. A save that does not enlarge a workflow is never rejected:
 * definitions from before the limits stay usable.
 * @throws ProblemError 422
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
