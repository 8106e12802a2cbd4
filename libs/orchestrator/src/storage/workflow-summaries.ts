import type { ClientBase } from 'pg';
import type { WorkflowDefinition } from '../workflow.js';
import type { ListedWorkflow } from '../workflow-store.js';
import type { WorkflowInterface, WorkflowListing } from '../workflow-outline.js';
import { summaryOf } from '../workflow-summary.js';
import { INTERFACES, LISTED, PUBLISHED, SUMMARIZE, UNSUMMARIZED } from './workflow-statements.js';

/** Bytes of all descriptions on the card of the service; the definitions of a tenant have no more. */
const MOST_DESCRIPTION_BYTES = 8 * 1024 * 1024;
/** Bytes of all inputs and outputs in a response. */
const MOST_INTERFACE_BYTES = 16 * 1024 * 1024;

/** Interface of a workflow beyond the limit of a response: its inputs are left out. */
const UNTOLD: WorkflowInterface = { input: { type: 'object', properties: {} }, artifacts: [] };

/**
 * Summaries of a tenant's workflows, read from columns. Whole definitions are read one at a time, and only if there is
 * no summary yet.
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
   * Summarizes workflows that replicas of earlier versions have saved. A process does this for one definition at a
   * time.
   */
  private summarizeMissing(): Promise<void> {
    const done = WorkflowSummaries.line.then(async () => {
      for (let after: string | undefined = ''; after !== undefined;) after = await this.summarizeNext(after);
    });
    WorkflowSummaries.line = done.catch(() => undefined);
    return done;
  }

  /** @returns the name of the summarized workflow; `undefined` if none is left */
  private async summarizeNext(after: string): Promise<string | undefined> {
    const { rows } = await this.sessions().query<Unsummarized>(UNSUMMARIZED, [this.tenant, after]);
    const [row] = rows;
    if (!row) return undefined;
    const { name, revision, definition, bytes } = row;
    await this.sessions().query(SUMMARIZE, [this.tenant, name, revision, bytes, ...summaryColumns(definition)]);
    return name;
  }
}

/** Returns the columns of a definition's summary: description, interface, nodes. */
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

type Nullable<T> = { [Member in keyof T]: T[Member] | null };

/** Returns a row without the members that are null. */
function withoutNull<T extends object>(row: Nullable<T>): T {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as T;
}
