import { Injectable } from '@nestjs/common';
import { BatchLoader, Database, inTransaction } from '#libs/postgres';
import type { Premise } from '#libs/tasks';
import { LRUCache } from 'lru-cache';
import type { ClientBase } from 'pg';
import type { WorkflowDefinition, WorkflowRevision } from '../workflow.js';
import { namingNodes } from '../named-workflows.js';
import { WORKFLOW_NAME } from '../workflow-problems.js';
import { type WorkflowSave, WorkflowStore } from '../workflow-store.js';
import {
  CREATE,
  DEFINITIONS,
  DELETE,
  HEADS,
  HEADS_OF,
  HEADS_WITH_NODE,
  LOCK,
  MARK,
  MARKED,
  REPLACE,
  REVISION,
  SAVES,
  VERSION,
} from './workflow-statements.js';

/**
 * WorkflowStore on PostgreSQL. Every save and every delete is one statement, so any number of replicas may save at once.
 * A read asks the database which revision is the newest: one indexed statement, shared by the reads that come in
 * together. The revision itself comes from memory once it was read, as the same object.
 */
@Injectable()
export class PostgresWorkflowStore extends WorkflowStore {
  /** By name and revision; which revision is the newest is not in here. */
  private readonly read = new LRUCache<string, Kept>(MOST_KEPT);
  /** By name: what was the newest when it was read last, which it need not be any more. */
  private readonly lastRead = new LRUCache<string, { revision: WorkflowRevision; premise: Premise }>(MOST_KEPT);
  private readonly newest = new BatchLoader((names: readonly string[]) => this.readNewest(names));
  private readonly versions = new BatchLoader(() => this.readVersion());

  private readonly tenants = new LRUCache<string, PostgresWorkflowStore>({
    ...MOST_KEPT,
    memoMethod: (tenant) => PostgresWorkflowStore.of(this.database, tenant),
  });
  private tenant = '';
  /** That of a transaction, or the database's. */
  private sessions: Sessions;

  constructor(private readonly database: Database) {
    super();
    this.sessions = database.pool;
  }

  inTenant(tenant: string): WorkflowStore {
    return tenant === this.tenant ? this : this.tenants.memo(tenant);
  }

  private static of(database: Database, tenant: string): PostgresWorkflowStore {
    const store = new PostgresWorkflowStore(database);
    store.tenant = tenant;
    return store;
  }

  async version(): Promise<string> {
    return (await this.versions.get(this.tenant)) ?? '0';
  }

  async list(limit: number, afterName = ''): Promise<WorkflowRevision[]> {
    // Planned anew each time: a plan that was made for few workflows is slow for many.
    const { rows } = await this.sessions.query<Head>(HEADS, [this.tenant, afterName, limit]);
    return this.revisions(rows);
  }

  async get(name: string, revision?: string): Promise<WorkflowRevision | undefined> {
    if (!WORKFLOW_NAME.test(name)) return undefined;
    if (revision !== undefined) return this.saved(name, revision);
    return this.newest.get(name);
  }

  override recent(name: string): { revision: WorkflowRevision; premise: Premise } | undefined {
    return this.lastRead.get(name);
  }

  async withNode(nodeId: string, limit: number): Promise<WorkflowRevision[]> {
    if (!WORKFLOW_NAME.test(nodeId)) return [];
    return this.revisions(await this.heads('workflow-heads-with-node', HEADS_WITH_NODE, [this.tenant, nodeId, limit]));
  }

  async create(definition: WorkflowDefinition): Promise<WorkflowRevision | undefined> {
    return this.save(CREATE, definition);
  }

  async replace(definition: WorkflowDefinition, expected?: readonly string[]): Promise<WorkflowRevision | undefined> {
    return this.save(REPLACE, definition, [expected ?? null]);
  }

  async delete(name: string, expected?: readonly string[]): Promise<boolean> {
    if (!WORKFLOW_NAME.test(name)) return false;
    const { rows } = await this.sessions.query(DELETE, [this.tenant, name, expected ?? null]);
    return rows.length === 1;
  }

  async saves(name: string, limit: number, before?: string): Promise<WorkflowSave[]> {
    if (!WORKFLOW_NAME.test(name) || (before !== undefined && !REVISION_NUMBER.test(before))) return [];
    const values = [this.tenant, name, limit, before ?? null];
    const { rows } = await this.sessions.query<{ revision: string; saved_at: Date }>(SAVES, values);
    return rows.map(({ revision, saved_at: savedAt }) => ({ revision, savedAt }));
  }

  async atomically<T>(names: readonly string[], work: (store: WorkflowStore) => Promise<T>): Promise<T> {
    return inTransaction(this.database, async (client) => {
      // Of its own: what it keeps in memory is not saved yet.
      const store = PostgresWorkflowStore.of(this.database, this.tenant);
      store.sessions = client;
      await client.query(LOCK, [this.tenant, names]);
      return work(store);
    });
  }

  async marked(mark: string): Promise<string[]> {
    const { rows } = await this.sessions.query<{ name: string }>(MARKED, [this.tenant, mark]);
    return rows.map(({ name }) => name);
  }

  async mark(name: string, mark: string): Promise<void> {
    await this.sessions.query(MARK, [this.tenant, name, mark]);
  }

  private async save(
    statement: string,
    definition: WorkflowDefinition,
    more: readonly unknown[] = [],
  ): Promise<WorkflowRevision | undefined> {
    const text = JSON.stringify(definition);
    const nodeIds = definition.nodes.map((node) => node.id);
    const pins = namingNodes(definition).filter(({ revision }) => revision !== undefined);
    const { rows } = await this.sessions.query<Head>(statement, [
      this.tenant,
      definition.name,
      text,
      nodeIds,
      pins.map(({ workflow }) => workflow),
      pins.map(({ revision }) => revision),
      ...more,
    ]);
    // Read back from its text: what is kept shares nothing with what the caller may still change.
    return rows[0] && this.keep({ ...rows[0], definition: JSON.parse(text) as WorkflowDefinition });
  }

  private async readNewest(names: readonly string[]): Promise<Map<string, WorkflowRevision>> {
    const heads = await this.heads('workflow-heads', HEADS_OF, [this.tenant, names]);
    const found = new Map((await this.revisions(heads)).map((revision) => [revision.definition.name, revision]));
    const versions = new Map(heads.map(({ name, version }) => [name, version]));
    for (const name of names) this.remember(name, found.get(name), versions.get(name));
    return found;
  }

  private remember(name: string, revision: WorkflowRevision | undefined, version = ''): void {
    if (!revision) return void this.lastRead.delete(name);
    const premise = { relation: 'workflow_newest', tenant: this.tenant, name } as const;
    this.lastRead.set(name, { revision, premise: { ...premise, version: `${revision.revision}/${version}` } });
  }

  private async readVersion(): Promise<Map<string, string>> {
    const { rows } = await this.sessions.query<{ version: string }>({
      name: 'workflow-version',
      text: VERSION,
      values: [this.tenant],
    });
    return new Map(rows.map(({ version }) => [this.tenant, version]));
  }

  private async heads(name: string, text: string, values: unknown[]): Promise<Head[]> {
    const { rows } = await this.sessions.query<Head>({ name, text, values });
    return rows;
  }

  /** The definitions of what was found, from memory where they were read before. */
  private async revisions(heads: readonly Head[]): Promise<WorkflowRevision[]> {
    const found = new Map(heads.map((head) => [head.name, this.kept(head)]));
    const unread = heads.filter((head) => !found.get(head.name));
    const definitions = await this.definitions(unread);
    for (const head of unread) {
      const definition = definitions.get(head.name);
      if (definition) found.set(head.name, this.keep({ ...head, definition }));
    }
    return heads.flatMap((head) => found.get(head.name) ?? []);
  }

  private async definitions(heads: readonly Head[]): Promise<Map<string, WorkflowDefinition>> {
    if (heads.length === 0) return new Map();
    const { rows } = await this.sessions.query<Saved>(DEFINITIONS, [
      this.tenant,
      heads.map((head) => head.name),
      heads.map((head) => head.revision),
    ]);
    return new Map(rows.map((row) => [row.name, row.definition]));
  }

  private async saved(name: string, revision: string): Promise<WorkflowRevision | undefined> {
    const kept = this.kept({ name, revision });
    if (kept || !REVISION_NUMBER.test(revision)) return kept;
    const { rows } = await this.sessions.query<Head & Saved>(REVISION, [this.tenant, name, revision]);
    return rows[0] && this.keep(rows[0]);
  }

  private keep(row: Head & Saved): WorkflowRevision {
    const { definition, revision, created_at: createdAt, updated_at: updatedAt } = row;
    const found = { definition, revision, createdAt, updatedAt };
    this.read.set(keyOf(row), { revision: found, version: row.version });
    return found;
  }

  /** What was read from that very row; without a version: whatever was read last. */
  private kept({ version, ...named }: Pick<Head, 'name' | 'revision'> & Partial<Head>): WorkflowRevision | undefined {
    const found = this.read.get(keyOf(named));
    return version === undefined || found?.version === version ? found?.revision : undefined;
  }
}

type Sessions = Pick<ClientBase, 'query'>;

interface Kept {
  revision: WorkflowRevision;
  /** Changes with the row that the revision was read from. */
  version: string;
}

interface Head {
  name: string;
  revision: string;
  created_at: Date;
  updated_at: Date;
  version: string;
}

interface Saved {
  name: string;
  definition: WorkflowDefinition;
}

/** Sized and not counted: room for as many as are counted would be taken at once, by each tenant's own as well. */
const MOST_KEPT = { maxSize: 1_000, sizeCalculation: () => 1 };
const REVISION_NUMBER = /^[1-9]\d{0,17}$/;

function keyOf({ name, revision }: Pick<Head, 'name' | 'revision'>): string {
  return `${name}/${revision}`;
}
