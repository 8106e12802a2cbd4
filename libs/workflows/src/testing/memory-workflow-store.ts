import type { ConfigurationSession } from '#libs/configuration';
import type { WorkflowDefinition, WorkflowRevision } from '#libs/workflow-definition';
import { summaryOf } from '../catalog/workflow-summary.js';
import {
  type ListedWorkflow,
  type SaveNote,
  type TextPage,
  type TextPageRequest,
  type WorkflowInterface,
  type WorkflowListing,
  type WorkflowSave,
  WorkflowStore,
  type WorkflowText,
} from '../storage/workflow-store.js';

interface Held {
  revisions: WorkflowRevision[];
  notes: Map<string, SaveNote>;
  deleted: boolean;
}

/** WorkflowStore without a database, for tests. */
export class MemoryWorkflowStore extends WorkflowStore {
  private held = new Map<string, Held>();
  private marks = new Map<string, string>();
  private changes = 0;
  private readonly tenants = new Map<string, MemoryWorkflowStore>();

  constructor(private readonly common?: MemoryWorkflowStore) {
    super();
  }

  inTenant(tenant: string): WorkflowStore {
    const common = this.common ?? this;
    if (tenant === '') return common;
    const store = common.tenants.get(tenant) ?? new MemoryWorkflowStore(common);
    common.tenants.set(tenant, store);
    return store;
  }

  async currentVersion(): Promise<string> {
    return String(this.changes);
  }

  async listRevisions(limit: number, afterName = ''): Promise<WorkflowRevision[]> {
    return this.newest()
      .filter(({ definition }) => definition.name > afterName)
      .slice(0, limit);
  }

  async listTexts({ limit, most, afterName, admit }: TextPageRequest): Promise<TextPage> {
    let bytes = 0;
    const all = await this.listRevisions(Infinity, afterName);
    const workflows = all.slice(0, limit).flatMap(({ definition, ...saved }, index): WorkflowText[] => {
      const text = JSON.stringify(definition);
      bytes += Buffer.byteLength(text);
      return index === 0 || bytes <= most ? [{ ...saved, name: definition.name, definition: text }] : [];
    });
    await admit(bytes);
    return { workflows, more: all.length > workflows.length };
  }

  async listPublished(): Promise<WorkflowListing[]> {
    return this.newest().map((saved) => {
      const { description } = summaryOf(saved);
      const { revision, updatedAt } = saved;
      return { name: saved.definition.name, revision, updatedAt, ...(description && { description }) };
    });
  }

  async listInterfaces(): Promise<Map<string, WorkflowInterface>> {
    return new Map(this.newest().map((saved) => [saved.definition.name, summaryOf(saved).interface]));
  }

  async listWithNodes(limit: number, after?: { name: string; inclusive: boolean }): Promise<ListedWorkflow[]> {
    const found = this.newest().map((saved): ListedWorkflow => {
      const { description, nodes } = summaryOf(saved);
      return { name: saved.definition.name, nodes, ...(description && { description }) };
    });
    const from = after?.name ?? '';
    return found.filter(({ name }) => name > from || (after?.inclusive && name === from)).slice(0, limit);
  }

  async get(name: string, revision?: string): Promise<WorkflowRevision | undefined> {
    if (revision === undefined) return this.newest().find((it) => it.definition.name === name);
    return this.held.get(name)?.revisions.find((it) => it.revision === revision);
  }

  async withNode(nodeId: string, limit: number): Promise<WorkflowRevision[]> {
    return this.newest()
      .filter(({ definition }) => definition.nodes.some((node) => node.id === nodeId))
      .slice(0, limit);
  }

  async createWorkflow(definition: WorkflowDefinition, note?: SaveNote): Promise<WorkflowRevision | undefined> {
    const held = this.held.get(definition.name);
    if (held && !held.deleted) return undefined;
    return this.save(definition, new Date(), note);
  }

  async replaceWorkflow(
    definition: WorkflowDefinition,
    expected?: readonly string[],
    note?: SaveNote,
  ): Promise<WorkflowRevision | undefined> {
    const found = await this.get(definition.name);
    if (!found || expected?.includes(found.revision) === false) return undefined;
    return this.save(definition, found.createdAt, note);
  }

  async delete(name: string, expected?: readonly string[]): Promise<boolean> {
    const held = this.held.get(name);
    if (!held || held.deleted) return false;
    if (expected?.includes(held.revisions.at(-1)?.revision ?? '') === false) return false;
    held.deleted = true;
    this.changes += 1;
    return true;
  }

  async listSaves(name: string, limit: number, before = String(Number.MAX_SAFE_INTEGER)): Promise<WorkflowSave[]> {
    const { revisions, notes } = this.held.get(name) ?? { revisions: [], notes: new Map<string, SaveNote>() };
    return revisions
      .filter(({ revision }) => Number(revision) < Number(before))
      .toReversed()
      .slice(0, limit)
      .map(({ revision, createdAt, updatedAt }) => ({
        revision,
        savedAt: updatedAt,
        createdAt,
        ...notes.get(revision),
      }));
  }

  async runAtomically<T>(
    _names: readonly string[],
    work: (store: WorkflowStore, session: ConfigurationSession) => Promise<T>,
  ): Promise<T> {
    const before = structuredClone({ held: this.held, marks: this.marks });
    try {
      return await work(this, this.session);
    } catch (error) {
      this.held = before.held;
      this.marks = before.marks;
      throw error;
    }
  }

  async keepFor(_runId: string, name: string, revision: string): Promise<boolean> {
    return (await this.get(name, revision)) !== undefined;
  }

  async listMarked(mark: string): Promise<string[]> {
    const names = this.newest().map(({ definition }) => definition.name);
    return names.filter((name) => this.marks.get(name) === mark);
  }

  async markWorkflow(name: string, mark: string): Promise<void> {
    this.marks.set(name, mark);
  }

  /** Session for other tables. It rejects every query, because this store has no tables. */
  private readonly session = {
    query: (): Promise<never> => Promise.reject(new Error('The memory store has no tables')),
  } as unknown as ConfigurationSession;

  private save(definition: WorkflowDefinition, createdAt: Date, note?: SaveNote): WorkflowRevision {
    const held = this.held.get(definition.name) ?? {
      revisions: [],
      notes: new Map<string, SaveNote>(),
      deleted: false,
    };
    const revision = String(held.revisions.length + 1);
    const saved = { definition: structuredClone(definition), revision, createdAt, updatedAt: new Date() };
    held.revisions.push(saved);
    if (note) held.notes.set(revision, note);
    held.deleted = false;
    this.changes += 1;
    this.held.set(definition.name, held);
    return saved;
  }

  private newest(): WorkflowRevision[] {
    const names = [...this.held].filter(([, it]) => !it.deleted).map(([name]) => name);
    return names.toSorted().flatMap((name) => this.held.get(name)?.revisions.at(-1) ?? []);
  }
}
