import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { getHeapStatistics } from 'node:v8';
import type { ClientBase } from 'pg';
import type { ConfigurationSession } from '#libs/configuration';
import { BatchLoader, Database, inTransaction } from '#libs/postgres';
import type { RevisionPrecondition } from '#libs/tasks';
import { namingNodes, WORKFLOW_NAME, type WorkflowDefinition, type WorkflowRevision } from '#libs/workflow-definition';
import {
  CREATE,
  DEFINITION_TEXTS,
  DEFINITIONS,
  DELETE,
  HEADS,
  HEADS_OF,
  HEADS_WITH_NODE,
  HELD,
  KEEP_FOR,
  LOCK,
  LOCK_TENANT,
  MARK,
  MARKED,
  type Nullable,
  REPLACE,
  REVISIONS,
  SAVES,
  summaryColumns,
  VERSION,
  withoutNull,
  WorkflowSummaries,
} from './workflow-statements.js';
import {
  assertTenantHasRoom,
  type HeldDefinitions,
  type ListedWorkflow,
  type SaveNote,
  type TextPage,
  type TextPageRequest,
  type WorkflowInterface,
  type WorkflowListing,
  type WorkflowSave,
  WorkflowStore,
} from './workflow-store.js';

/** Cached revision, with the version of its database row (`xmin`). */
interface Kept {
  revision: WorkflowRevision;
  version: string;
}

/** Newest revision of a workflow at this process's last read, with the precondition that it is still the newest. */
interface Newest {
  revision: string;
  premise: RevisionPrecondition;
}

/** Share of the heap that cached revisions, and the objects made from them, may use. */
const SHARE = 1 / 8;
/** Estimated heap bytes of a JSON value for each byte of its text; measured with lists of short values. */
const HEAP_PER_BYTE = 4;
/** Estimated heap bytes of a node's executor, agent and output rules. */
const HEAP_PER_NODE = 2 * 1024;
/** Maximum number of workflows whose newest revision is noted. */
const MOST_NEWEST = 10_000;

/**
 * Caches the revisions of workflows that this process has read, for all tenants together. Sizes are estimated, and the
 * least recently used revisions are evicted first. A revision that alone exceeds the limit is not cached.
 */
export class RevisionCache {
  private readonly revisions: LRUCache<string, Kept>;
  /**
   * Newest revision of each workflow, as of the last read. The cache is limited by size and not by `max`, because
   * LRUCache allocates memory for `max` entries up front.
   */
  private readonly newest = new LRUCache<string, Newest>({ maxSize: MOST_NEWEST, sizeCalculation: () => 1 });

  /** @param most maximum size of all revisions in bytes of the heap */
  constructor(most = Math.floor(getHeapStatistics().heap_size_limit * SHARE)) {
    this.revisions = new LRUCache({ maxSize: most });
  }

  /** Estimated size of the cached revisions, in bytes of the heap. */
  get weight(): number {
    return this.revisions.calculatedSize;
  }

  /**
   * Returns a cached revision; `undefined` if it is not cached. Repeated calls return the same object for as long as
   * the revision is cached.
   * @param version version of the database row from which the revision must have been read; absent: any version
   */
  get(key: RevisionKey, version?: string): WorkflowRevision | undefined {
    const found = this.revisions.get(revisionKey(key));
    return version === undefined || found?.version === version ? found?.revision : undefined;
  }

  /**
   * Caches a revision.
   * @param bytes size of the definition as JSON
   */
  keepRevision(
    key: RevisionKey,
    revision: WorkflowRevision,
    { version, bytes }: { version: string; bytes: number },
  ): void {
    const size = bytes * HEAP_PER_BYTE + revision.definition.nodes.length * HEAP_PER_NODE + 1;
    this.revisions.set(revisionKey(key), { revision, version }, { size });
  }

  /**
   * Returns the revision that was the newest when this process last read the workflow, and the precondition that the
   * revision still is the newest; `undefined` if the revision is not cached.
   */
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

/**
 * Returns the cache key of a workflow. The name comes first, because it has no slash and a tenant may have any
 * character.
 */
function workflowKey(tenant: string, name: string): string {
  return `${name}/${tenant.length}:${tenant}`;
}

/**
 * WorkflowStore on PostgreSQL.
 * - Every save and every delete changes the tables in one statement, so that any number of replicas may save
 *   concurrently.
 * - Each read asks the database which revision is the newest, with one indexed statement that concurrent reads share.
 * - The definition itself is read once; then the revision comes from the cache, as the same object.
 */
@Injectable()
export class PostgresWorkflowStore extends WorkflowStore {
  private readonly newest = new BatchLoader((names: readonly string[]) => this.readNewest(names));
  private readonly versions = new BatchLoader(() => this.readVersion());
  private readonly unread = new BatchLoader((saved: readonly string[]) => this.readSaved(saved), READ_AT_ONCE, 4);
  private readonly tenants = new LRUCache<string, PostgresWorkflowStore>({
    maxSize: MOST_TENANTS,
    sizeCalculation: () => 1,
    memoMethod: (tenant) => PostgresWorkflowStore.createForTenant(this.database, tenant, this.cache),
  });
  private tenant = '';
  private cache = new RevisionCache();
  private summaries: WorkflowSummaries;
  /** Database sessions of the transaction of `runAtomically`. If absent, statements use any session of the pool. */
  private transaction: Sessions | undefined;

  constructor(private readonly database: Database) {
    super();
    this.summaries = new WorkflowSummaries('', () => this.sessions);
  }

  inTenant(tenant: string): WorkflowStore {
    return tenant === this.tenant ? this : this.tenants.memo(tenant);
  }

  private static createForTenant(database: Database, tenant: string, cache: RevisionCache): PostgresWorkflowStore {
    const store = new PostgresWorkflowStore(database);
    store.tenant = tenant;
    store.cache = cache;
    store.summaries = new WorkflowSummaries(tenant, () => store.sessions);
    return store;
  }

  private get sessions(): Sessions {
    return this.transaction ?? this.database.pool;
  }

  async currentVersion(): Promise<string> {
    return (await this.versions.get(this.tenant)) ?? '0';
  }

  async listRevisions(limit: number, afterName = ''): Promise<WorkflowRevision[]> {
    // This is not a prepared statement, because a query plan that was made for few workflows is slow for many.
    return this.loadRevisions(headsWithin(await this.readHeads(limit, afterName), MOST_LISTED_BYTES));
  }

  async listTexts({ limit, most, afterName = '', admit }: TextPageRequest): Promise<TextPage> {
    const found = await this.readHeads(limit + 1, afterName);
    const heads = headsWithin(found.slice(0, limit), most);
    await admit(heads.reduce((sum, { bytes }) => sum + bytes, 0));
    type Text = { name: string; definition: string };
    const { rows } = await this.sessions.query<Text>(DEFINITION_TEXTS, pairsOf(heads, this.tenant));
    const texts = new Map(rows.map(({ name, definition }) => [name, definition]));
    const workflows = heads.flatMap(({ name, revision, created_at: createdAt, updated_at: updatedAt }) => {
      const definition = texts.get(name);
      return definition === undefined ? [] : { name, revision, createdAt, updatedAt, definition };
    });
    return { workflows, more: found.length > heads.length };
  }

  listPublished(): Promise<WorkflowListing[]> {
    return this.summaries.listPublished();
  }

  listInterfaces(): Promise<Map<string, WorkflowInterface>> {
    return this.summaries.listInterfaces();
  }

  listWithNodes(limit: number, after?: { name: string; inclusive: boolean }): Promise<ListedWorkflow[]> {
    return this.summaries.listWithNodes(limit, after);
  }

  async get(name: string, revision?: string): Promise<WorkflowRevision | undefined> {
    if (!WORKFLOW_NAME.test(name)) return undefined;
    if (revision !== undefined) return this.findSaved(name, revision);
    return this.newest.get(name);
  }

  override recentRevision(name: string): { revision: WorkflowRevision; premise: RevisionPrecondition } | undefined {
    return this.cache.recentRevision(this.tenant, name);
  }

  async withNode(nodeId: string, limit: number): Promise<WorkflowRevision[]> {
    if (!WORKFLOW_NAME.test(nodeId)) return [];
    return this.loadRevisions(
      await this.queryHeads('workflow-heads-with-node', HEADS_WITH_NODE, [this.tenant, nodeId, limit]),
    );
  }

  async createWorkflow(definition: WorkflowDefinition, note?: SaveNote): Promise<WorkflowRevision | undefined> {
    return this.saveDefinition(CREATE, definition, note);
  }

  async replaceWorkflow(
    definition: WorkflowDefinition,
    expected?: readonly string[],
    note?: SaveNote,
  ): Promise<WorkflowRevision | undefined> {
    return this.saveDefinition(REPLACE, definition, note, [expected ?? null]);
  }

  async delete(name: string, expected?: readonly string[]): Promise<boolean> {
    if (!WORKFLOW_NAME.test(name)) return false;
    const { rows } = await this.sessions.query(DELETE, [this.tenant, name, expected ?? null]);
    return rows.length === 1;
  }

  async listSaves(name: string, limit: number, before?: string): Promise<WorkflowSave[]> {
    if (!WORKFLOW_NAME.test(name) || (before !== undefined && !REVISION_NUMBER.test(before))) return [];
    const values = [this.tenant, name, limit, before ?? null];
    return (await this.sessions.query<Nullable<WorkflowSave>>(SAVES, values)).rows.map(withoutNull);
  }

  async runAtomically<T>(
    names: readonly string[],
    work: (store: WorkflowStore, session: ConfigurationSession) => Promise<T>,
  ): Promise<T> {
    return inTransaction(this.database, async (client) => {
      // The store of the transaction has a separate cache, because its revisions are not committed yet.
      const store = PostgresWorkflowStore.createForTenant(this.database, this.tenant, new RevisionCache());
      store.transaction = client;
      await client.query(LOCK_TENANT, [this.tenant]);
      await client.query(LOCK, [this.tenant, names]);
      return work(store, client);
    });
  }

  async keepFor(runId: string, name: string, revision: string): Promise<boolean> {
    const { rows } = await this.sessions.query(KEEP_FOR, [runId, this.tenant, name, revision]);
    return rows.length === 1;
  }

  async listMarked(mark: string): Promise<string[]> {
    const { rows } = await this.sessions.query<{ name: string }>(MARKED, [this.tenant, mark]);
    return rows.map(({ name }) => name);
  }

  async markWorkflow(name: string, mark: string): Promise<void> {
    await this.sessions.query(MARK, [this.tenant, name, mark]);
  }

  /**
   * Saves a definition with one statement; returns `undefined` if the statement saved nothing. The saves of a tenant
   * are serialized, because the size of all its definitions is counted first.
   * @param more values of the statement's parameters from $13 on
   * @throws ProblemError 422 if a limit of the tenant is exceeded
   */
  private async saveDefinition(
    statement: string,
    definition: WorkflowDefinition,
    { author, restoredFrom }: SaveNote = {},
    more: readonly unknown[] = [],
  ): Promise<WorkflowRevision | undefined> {
    const text = JSON.stringify(definition);
    const bytes = Buffer.byteLength(text);
    const nodeIds = definition.nodes.map((node) => node.id);
    const pins = namingNodes(definition).filter(({ revision }) => revision !== undefined);
    const values = [
      this.tenant,
      definition.name,
      text,
      nodeIds,
      pins.map(({ workflow }) => workflow),
      pins.map(({ revision }) => revision),
      bytes,
      ...summaryColumns(definition),
      author ?? null,
      restoredFrom ?? null,
      ...more,
    ];
    const [row] = await this.withTenantLock(async (session) => {
      const { rows: held } = await session.query<HeldDefinitions>(HELD, [this.tenant, definition.name]);
      if (held[0]) assertTenantHasRoom(bytes, held[0]);
      return (await session.query<Head>(statement, values)).rows;
    });
    // Parse the text again, because the cached revision must not share objects with the caller.
    return row && this.cacheRevision({ ...row, bytes, definition: JSON.parse(text) as WorkflowDefinition });
  }

  private async withTenantLock<T>(work: (session: Sessions) => Promise<T>): Promise<T> {
    if (this.transaction) return work(this.transaction);
    return inTransaction(this.database, async (client) => {
      await client.query(LOCK_TENANT, [this.tenant]);
      return work(client);
    });
  }

  private async readHeads(limit: number, afterName: string): Promise<SizedHead[]> {
    // This is not a prepared statement, because a query plan that was made for few workflows is slow for many.
    return (await this.sessions.query<SizedHead>(HEADS, [this.tenant, afterName, limit])).rows;
  }

  private async readNewest(names: readonly string[]): Promise<Map<string, WorkflowRevision>> {
    const heads = await this.queryHeads('workflow-heads', HEADS_OF, [this.tenant, names]);
    const found = new Map((await this.loadRevisions(heads)).map((revision) => [revision.definition.name, revision]));
    const versions = new Map(heads.map(({ name, version }) => [name, version]));
    for (const name of names) this.rememberNewest(name, found.get(name), versions.get(name));
    return found;
  }

  private rememberNewest(name: string, revision: WorkflowRevision | undefined, version = ''): void {
    if (!revision) return this.cache.noteNewest(this.tenant, name, undefined);
    const premise = { relation: 'workflow_newest', tenant: this.tenant, name } as const;
    this.cache.noteNewest(this.tenant, name, {
      revision: revision.revision,
      premise: { ...premise, version: `${revision.revision}/${version}` },
    });
  }

  private async readVersion(): Promise<Map<string, string>> {
    const { rows } = await this.sessions.query<{ version: string }>({
      name: 'workflow-version',
      text: VERSION,
      values: [this.tenant],
    });
    return new Map(rows.map(({ version }) => [this.tenant, version]));
  }

  private async queryHeads(name: string, text: string, values: unknown[]): Promise<Head[]> {
    const { rows } = await this.sessions.query<Head>({ name, text, values });
    return rows;
  }

  /** Returns the revisions of the given rows (name, revision, times and version), from the cache if possible. */
  private async loadRevisions(heads: readonly Head[]): Promise<WorkflowRevision[]> {
    const found = new Map(heads.map((head) => [head.name, this.cachedRevision(head)]));
    const unread = heads.filter((head) => !found.get(head.name));
    const definitions = await this.readDefinitions(unread);
    for (const head of unread) {
      const saved = definitions.get(head.name);
      if (saved) found.set(head.name, this.cacheRevision({ ...head, ...saved }));
    }
    return heads.flatMap((head) => found.get(head.name) ?? []);
  }

  private async readDefinitions(heads: readonly Head[]): Promise<Map<string, Saved>> {
    if (heads.length === 0) return new Map();
    const { rows } = await this.sessions.query<Saved>(DEFINITIONS, pairsOf(heads, this.tenant));
    return new Map(rows.map((row) => [row.name, row]));
  }

  private async findSaved(name: string, revision: string): Promise<WorkflowRevision | undefined> {
    const kept = this.cachedRevision({ name, revision });
    if (kept || !REVISION_NUMBER.test(revision)) return kept;
    return this.unread.get(`${name}/${revision}`);
  }

  /**
   * Reads several revisions with one query, because a replica that adopts many runs needs their revisions at the same
   * time.
   */
  private async readSaved(keys: readonly string[]): Promise<Map<string, WorkflowRevision>> {
    const pairs = keys.map((key) => key.split('/'));
    const values = [this.tenant, pairs.map(([name]) => name), pairs.map(([, revision]) => revision)];
    const { rows } = await this.sessions.query<Head & Saved>(REVISIONS, values);
    return new Map(rows.map((row) => [`${row.name}/${row.revision}`, this.cacheRevision(row)]));
  }

  private cacheRevision(row: Head & Saved): WorkflowRevision {
    const { definition, revision, created_at: createdAt, updated_at: updatedAt, version, bytes } = row;
    const found = { definition, revision, createdAt, updatedAt };
    this.cache.keepRevision({ tenant: this.tenant, name: row.name, revision }, found, { version, bytes });
    return found;
  }

  /**
   * Returns the cached revision of a row's name and revision number; `undefined` if there is none. If the row has a
   * version, the revision must have been read from the row with that version.
   */
  private cachedRevision({ name, revision, version }: KeptHead): WorkflowRevision | undefined {
    return this.cache.get({ tenant: this.tenant, name, revision }, version);
  }
}

type Sessions = Pick<ClientBase, 'query'>;
type KeptHead = Pick<Head, 'name' | 'revision'> & Partial<Head>;

interface Head {
  name: string;
  revision: string;
  created_at: Date;
  updated_at: Date;
  version: string;
}

interface SizedHead extends Head {
  bytes: number;
}

interface Saved {
  name: string;
  definition: WorkflowDefinition;
  /** Size of the definition as JSON, in bytes. */
  bytes: number;
}

const MOST_TENANTS = 1_000;
/** Maximum size of the definitions that `listRevisions` loads at once, in bytes. */
const MOST_LISTED_BYTES = 4 * 1024 * 1024;
/** Maximum number of revisions per query, each of at most 256 KiB. */
const READ_AT_ONCE = 32;
const REVISION_NUMBER = /^[1-9]\d{0,17}$/;

/** Returns the first workflows whose definitions together have at most `most` bytes; at least one workflow. */
function headsWithin(heads: readonly SizedHead[], most: number): SizedHead[] {
  let bytes = 0;
  return heads.filter((head, index) => {
    bytes += head.bytes;
    return index === 0 || bytes <= most;
  });
}

function pairsOf(heads: readonly Head[], tenant: string): unknown[] {
  return [tenant, heads.map(({ name }) => name), heads.map(({ revision }) => revision)];
}
