import type { ClientBase } from 'pg';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { summaryOf } from '../catalog/workflow-summary.js';
import type { ListedWorkflow, WorkflowInterface, WorkflowListing } from './workflow-store.js';

// The version is the transaction that wrote the row. It distinguishes a definition that was changed by hand from the
// cached one.
const SELECT_HEADS = `
  SELECT workflow.name, workflow.revision::text, workflow.created_at, workflow.updated_at, saved.xmin::text AS version
  FROM workflow JOIN workflow_revision AS saved USING (tenant, name, revision)`;

// Size of a definition. It is computed if there is no summary, because a replica of an earlier version saved the
// revision.
const BYTES = 'coalesce(summary.bytes, octet_length(saved.definition::text))';
const SUMMARIZED = `
  FROM workflow JOIN workflow_revision AS saved USING (tenant, name, revision)
    LEFT JOIN workflow_summary AS summary USING (tenant, name, revision)`;

/** Selects the newest revisions of workflows by name. $1 tenant, $2 names. */
export const HEADS_OF = `${SELECT_HEADS} WHERE tenant = $1 AND name = ANY($2::text[]) AND deleted_at IS NULL`;

/**
 * Selects a page of newest revisions, sorted by name, each with the size of its definition in bytes. $1 tenant, $2 name
 * before the page, $3 limit.
 */
export const HEADS = `
  SELECT workflow.name, workflow.revision::text, workflow.created_at, workflow.updated_at, saved.xmin::text AS version,
         ${BYTES} AS bytes
  ${SUMMARIZED} WHERE tenant = $1 AND name > $2 AND deleted_at IS NULL ORDER BY name LIMIT $3`;

/** Selects the workflows whose newest revision has a node. $1 tenant, $2 node id, $3 limit. */
export const HEADS_WITH_NODE = `${SELECT_HEADS} JOIN workflow_node AS node USING (tenant, name, revision)
  WHERE tenant = $1 AND node.node_id = $2 AND deleted_at IS NULL ORDER BY name LIMIT $3`;

const selectDefinitions = (definition: string): string => `
  SELECT saved.name, ${definition} AS definition, octet_length(saved.definition::text) AS bytes
  FROM unnest($2::text[], $3::bigint[]) AS wanted (name, revision)
  JOIN workflow_revision AS saved
    ON saved.tenant = $1 AND saved.name = wanted.name AND saved.revision = wanted.revision`;

/** Selects saved definitions. $1 tenant, $2 names, $3 revisions, pair by pair. */
export const DEFINITIONS = selectDefinitions('saved.definition');

/** Selects saved definitions as texts, with the parameters of `DEFINITIONS`. */
export const DEFINITION_TEXTS = selectDefinitions('saved.definition::text');

/** Selects saved revisions, including those of deleted workflows. $1 tenant, $2 names, $3 revisions, pair by pair. */
export const REVISIONS = `
  SELECT saved.name, saved.revision::text, saved.definition, octet_length(saved.definition::text) AS bytes,
         saved.xmin::text AS version,
         coalesce(saved.history_at, least(workflow.created_at, saved.created_at)) AS created_at,
         saved.created_at AS updated_at
  FROM unnest($2::text[], $3::bigint[]) AS wanted (name, revision)
  JOIN workflow_revision AS saved
    ON saved.tenant = $1 AND saved.name = wanted.name AND saved.revision = wanted.revision
  JOIN workflow ON workflow.tenant = $1 AND workflow.name = wanted.name`;

/**
 * Selects the saves of a workflow, newest first. $1 tenant, $2 name, $3 limit, $4 revision before which to begin, or
 * null.
 */
export const SAVES = `
  SELECT saved.revision::text, saved.created_at AS "savedAt", saved.author, saved.restored_from::text AS "restoredFrom",
         coalesce(saved.history_at, CASE WHEN saved.created_at >= workflow.created_at THEN workflow.created_at END)
           AS "createdAt"
  FROM workflow_revision AS saved JOIN workflow USING (tenant, name)
  WHERE tenant = $1 AND name = $2 AND ($4::bigint IS NULL OR saved.revision < $4)
  ORDER BY saved.revision DESC LIMIT $3`;

/** Selects the version of a tenant's workflows: a number that changes with every save and delete. $1 tenant. */
export const VERSION = 'SELECT version::text FROM workflow_version WHERE tenant = $1';

// The count reads from the saved row, so that every statement locks the workflow first and the count second.
const countChange = (saved: string): string => `
  counted AS (
    INSERT INTO workflow_version AS held (tenant, version) SELECT tenant, 1 FROM ${saved}
    ON CONFLICT (tenant) DO UPDATE SET version = held.version + 1
  )`;

const KEEP = `${countChange('saved')},
  kept AS (
    INSERT INTO workflow_revision
      (tenant, name, revision, definition, created_at, author, restored_from, history_at)
    SELECT tenant, name, revision, $3::json, updated_at, $11::text, $12::bigint, created_at FROM saved
  ),
  nodes AS (
    INSERT INTO workflow_node (tenant, name, revision, node_id)
    SELECT DISTINCT tenant, name, revision, node_id FROM saved, unnest($4::text[]) AS node_id
  ),
  pins AS (
    INSERT INTO workflow_pin (tenant, parent, parent_revision, name, revision)
    SELECT DISTINCT saved.tenant, saved.name, saved.revision, pinned.name, pinned.revision
    FROM saved, unnest($5::text[], $6::bigint[]) AS pinned (name, revision)
  ),
  summary AS (
    INSERT INTO workflow_summary AS held (tenant, name, revision, bytes, description, interface, nodes)
    SELECT tenant, name, revision, $7::integer, $8::json, $9::json, $10::json FROM saved
    ON CONFLICT (tenant, name) DO UPDATE SET revision = EXCLUDED.revision, bytes = EXCLUDED.bytes,
      description = EXCLUDED.description, interface = EXCLUDED.interface, nodes = EXCLUDED.nodes
  )`;

/**
 * Saves a new workflow, or one under the name of a deleted workflow; returns no row if the name is taken.
 * - $1 tenant, $2 name, $3 definition, $4 node ids
 * - $5 and $6 names and revisions of the workflows that its nodes run, pair by pair
 * - $7 size of the definition in bytes
 * - $8 to $10 its summary: description, interface, nodes
 * - $11 its author, $12 the revision that it restores; null for none
 */
export const CREATE = `
  WITH saved AS (
    INSERT INTO workflow AS held (tenant, name, revision, created_at, updated_at)
    VALUES ($1, $2, 1, statement_timestamp(), statement_timestamp())
    ON CONFLICT (tenant, name) DO UPDATE
      SET revision = held.revision + 1, deleted_at = NULL, created_at = EXCLUDED.created_at, updated_at = EXCLUDED.updated_at
      WHERE held.deleted_at IS NOT NULL
    RETURNING tenant, name, revision, created_at, updated_at
  ),${KEEP}
  SELECT name, revision::text, created_at, updated_at, '' AS version FROM saved`;

/**
 * Saves the next revision of a workflow. Returns no row if the workflow does not exist, or its newest revision is not
 * in $13. $1 to $12 as for `CREATE`, $13 expected revisions, or null for any.
 */
export const REPLACE = `
  WITH saved AS (
    UPDATE workflow SET revision = revision + 1, updated_at = statement_timestamp()
    WHERE tenant = $1 AND name = $2 AND deleted_at IS NULL AND ($13::text[] IS NULL OR revision::text = ANY($13))
    RETURNING tenant, name, revision, created_at, updated_at
  ),${KEEP},
  outdated AS (
    DELETE FROM workflow_node USING saved
    WHERE workflow_node.tenant = saved.tenant AND workflow_node.name = saved.name
      AND workflow_node.revision < saved.revision
  )
  SELECT name, revision::text, created_at, updated_at, '' AS version FROM saved`;

/**
 * Marks a workflow as deleted, if its newest revision is in $3. Its revisions are kept for the runs that use them. $1
 * tenant, $2 name, $3 expected revisions, or null for any.
 */
export const DELETE = `
  WITH gone AS (
    UPDATE workflow SET deleted_at = statement_timestamp(), updated_at = statement_timestamp()
    WHERE tenant = $1 AND name = $2 AND deleted_at IS NULL AND ($3::text[] IS NULL OR revision::text = ANY($3))
    RETURNING tenant, name
  ),
  nodes AS (
    DELETE FROM workflow_node USING gone WHERE workflow_node.tenant = gone.tenant AND workflow_node.name = gone.name
  ),
  summary AS (
    DELETE FROM workflow_summary AS held USING gone WHERE held.tenant = gone.tenant AND held.name = gone.name
  ),${countChange('gone')}
  SELECT name FROM gone`;

/** Locks workflows against concurrent changes. $1 tenant, $2 names. */
export const LOCK = `
  SELECT name FROM workflow WHERE tenant = $1 AND name = ANY($2::text[]) ORDER BY name FOR NO KEY UPDATE`;

/**
 * Locks the workflows of a tenant against concurrent saves, so that the counted size stays valid until the save
 * commits. $1 tenant.
 */
export const LOCK_TENANT = `SELECT pg_advisory_xact_lock(hashtextextended('workflows of ' || $1, 0))`;

/**
 * Selects the number and total bytes of a tenant's workflows without one workflow, and the bytes of that workflow. $1
 * tenant, $2 name of the excepted workflow.
 */
export const HELD = `
  SELECT count(*) FILTER (WHERE name <> $2)::integer AS others,
         coalesce(sum(${BYTES}) FILTER (WHERE name <> $2), 0)::float8 AS "otherBytes",
         coalesce(sum(${BYTES}) FILTER (WHERE name = $2), 0)::float8 AS "ownBytes"
  ${SUMMARIZED} WHERE tenant = $1 AND deleted_at IS NULL`;

/** Selects the first workflow after a name whose newest revision has no summary. $1 tenant, $2 name. */
const UNSUMMARIZED = `
  SELECT workflow.name, workflow.revision::text, saved.definition, octet_length(saved.definition::text) AS bytes
  ${SUMMARIZED} WHERE tenant = $1 AND name > $2 AND deleted_at IS NULL AND summary.interface IS NULL
  ORDER BY name LIMIT 1`;

/**
 * Saves the summary of a newest revision. $1 tenant, $2 name, $3 revision, $4 size of the definition in bytes, $5
 * description, $6 interface, $7 nodes.
 */
const SUMMARIZE = `
  INSERT INTO workflow_summary AS held (tenant, name, revision, bytes, description, interface, nodes)
  SELECT tenant, name, revision, $4::integer, $5::json, $6::json, $7::json FROM workflow
  WHERE tenant = $1 AND name = $2 AND revision = $3 AND deleted_at IS NULL
  ON CONFLICT (tenant, name) DO UPDATE SET revision = EXCLUDED.revision, bytes = EXCLUDED.bytes,
    description = EXCLUDED.description, interface = EXCLUDED.interface, nodes = EXCLUDED.nodes
    WHERE held.revision <= EXCLUDED.revision`;

/** Selects workflows for the card of the service, sorted by name. $1 tenant, $2 maximum bytes of all descriptions. */
const PUBLISHED = `
  SELECT workflow.name, workflow.revision::text, workflow.updated_at AS "updatedAt", ${columnWithin('description', '$2')}
  ${SUMMARIZED} WHERE tenant = $1 AND deleted_at IS NULL ORDER BY name`;

/** Selects the inputs and outputs of workflows, sorted by name. $1 tenant, $2 maximum bytes of all of them. */
const INTERFACES = `
  SELECT workflow.name, ${columnWithin('interface', '$2')}
  ${SUMMARIZED} WHERE tenant = $1 AND deleted_at IS NULL ORDER BY name`;

/**
 * Selects a page of workflows with their nodes, sorted by name. $1 tenant, $2 name before the page, $3 true if the page
 * includes that name, $4 limit.
 */
const LISTED = `
  SELECT workflow.name, summary.description, summary.nodes
  ${SUMMARIZED} WHERE tenant = $1 AND (name > $2 OR $3 AND name = $2) AND deleted_at IS NULL ORDER BY name LIMIT $4`;

/**
 * Returns SQL for a column of the summary. Rows are counted in order: once the bytes of the column add up to more than
 * `most`, the column is null in all further rows.
 */
function columnWithin(column: string, most: string): string {
  const bytes = `octet_length(summary.${column}::text)`;
  return `CASE WHEN sum(${bytes}) OVER (ORDER BY workflow.name) <= ${most} THEN summary.${column} END AS ${column}`;
}

/** Records that a run needs a revision, so that the revision is not purged. $1 run, $2 tenant, $3 name, $4 revision. */
export const KEEP_FOR = `
  INSERT INTO run_revision AS held (run_id, tenant, name, revision)
  SELECT $1, tenant, name, revision FROM workflow_revision WHERE tenant = $2 AND name = $3 AND revision = $4 FOR KEY SHARE
  RETURNING run_id`;

/**
 * Selects the names of workflows that were last applied under a mark (the label of their origin). $1 tenant, $2 mark.
 */
export const MARKED = `
  SELECT name FROM workflow_mark JOIN workflow USING (tenant, name)
  WHERE tenant = $1 AND mark = $2 AND deleted_at IS NULL ORDER BY name`;

/**
 * Sets the mark of a workflow: the label of the origin that it was applied from, such as a folder. $1 tenant, $2 name,
 * $3 mark.
 */
export const MARK = `
  INSERT INTO workflow_mark AS held (tenant, name, mark) VALUES ($1, $2, $3)
  ON CONFLICT (tenant, name) DO UPDATE SET mark = EXCLUDED.mark WHERE held.mark <> EXCLUDED.mark`;

/** Maximum bytes of all descriptions on the card of the service. */
const MOST_DESCRIPTION_BYTES = 8 * 1024 * 1024;
/** Maximum bytes of all inputs and outputs in a response. */
const MOST_INTERFACE_BYTES = 16 * 1024 * 1024;

/**
 * Interface that is returned for a workflow whose own interface no longer fits into the response
 * (MOST_INTERFACE_BYTES).
 */
const UNTOLD: WorkflowInterface = { input: { type: 'object', properties: {} }, artifacts: [] };

/**
 * Reads the summaries of a tenant's workflows. If a workflow has no summary yet, its whole definition is read and
 * summarized first, one definition at a time.
 */
export class WorkflowSummaries {
  private static line: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly tenant: string,
    private readonly sessions: () => Pick<ClientBase, 'query'>,
  ) {}

  async listPublished(): Promise<WorkflowListing[]> {
    await this.summarizeMissing();
    const { rows } = await this.sessions().query<Nullable<WorkflowListing>>(PUBLISHED, [
      this.tenant,
      MOST_DESCRIPTION_BYTES,
    ]);
    return rows.map(withoutNull);
  }

  async listInterfaces(): Promise<Map<string, WorkflowInterface>> {
    await this.summarizeMissing();
    const { rows } = await this.sessions().query<{ name: string; interface: WorkflowInterface | null }>(INTERFACES, [
      this.tenant,
      MOST_INTERFACE_BYTES,
    ]);
    return new Map(rows.map((row) => [row.name, row.interface ?? UNTOLD]));
  }

  async listWithNodes(limit: number, after?: { name: string; inclusive: boolean }): Promise<ListedWorkflow[]> {
    await this.summarizeMissing();
    const values = [this.tenant, after?.name ?? '', after?.inclusive ?? false, limit];
    const { rows } = await this.sessions().query<Nullable<ListedWorkflow>>(LISTED, values);
    return rows.map((row) => ({ ...withoutNull(row), nodes: row.nodes ?? [] }));
  }

  /**
   * Saves the missing summaries of workflows that replicas of earlier versions have saved. A process summarizes only
   * one definition at a time.
   */
  private summarizeMissing(): Promise<void> {
    const done = WorkflowSummaries.line.then(async () => {
      for (let after: string | undefined = ''; after !== undefined;) after = await this.summarizeNext(after);
    });
    WorkflowSummaries.line = done.catch(() => undefined);
    return done;
  }

  /**
   * Saves the first missing summary, in the order of the workflow names after `after`.
   * @returns the name of the summarized workflow; `undefined` if no summary is missing
   */
  private async summarizeNext(after: string): Promise<string | undefined> {
    const { rows } = await this.sessions().query<Unsummarized>(UNSUMMARIZED, [this.tenant, after]);
    const [row] = rows;
    if (!row) return undefined;
    const { name, revision, definition, bytes } = row;
    await this.sessions().query(SUMMARIZE, [this.tenant, name, revision, bytes, ...summaryColumns(definition)]);
    return name;
  }
}

/** Returns the values of a definition's summary for the columns description, interface and nodes, in this order. */
export function summaryColumns(definition: WorkflowDefinition): (string | null)[] {
  const never = new Date(0);
  const {
    description,
    interface: taken,
    nodes,
  } = summaryOf({
    definition,
    revision: '',
    createdAt: never,
    updatedAt: never,
  });
  return [description === undefined ? null : JSON.stringify(description), JSON.stringify(taken), JSON.stringify(nodes)];
}

interface Unsummarized {
  name: string;
  revision: string;
  definition: WorkflowDefinition;
  bytes: number;
}

export type Nullable<T> = { [Member in keyof T]: T[Member] | null };

/** Returns a database row without the members that are null. */
export function withoutNull<T extends object>(row: Nullable<T>): T {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as T;
}
