import type { JournalEntry, JournalOutcome } from '../store/task-store.js';

/** Function that returns the error with which a batch fails; `undefined` lets the batch be written. */
export type Fault = (batch: readonly JournalEntry[]) => Error | undefined;

/** Creates an error as the database reports it, with an SQLSTATE code. */
export function databaseError(code: string): Error {
  return Object.assign(new Error(`the database says ${code}`), { code, severity: 'ERROR' });
}

/**
 * In-memory test store. It rejects writes (fences) as PostgreSQL does, and a test decides which statements fail. All
 * batches use one session, and all retries another: a statement waits for the end of the previous one.
 */
export class FaultyStore {
  /** Statements so far, as the ids of the Tasks that each was to write. */
  readonly statements: string[][] = [];
  fault: Fault = () => undefined;
  /** Returns a promise that resolves when the statement of a batch may continue; `undefined`: it continues at once. */
  hold: (batch: readonly JournalEntry[]) => Promise<void> | undefined = () => undefined;
  readonly retries = {
    writeBatch: this.session(),
    readRecordedEvents: (taskId: string, after: number, limit: number) => this.readRecordedEvents(taskId, after, limit),
  };
  readonly writeBatch = this.session();
  private readonly logs = new Map<string, string[]>();
  private readonly listeners: { count: number; resolve: () => void }[] = [];

  private session(): (batch: readonly JournalEntry[]) => Promise<JournalOutcome[]> {
    let last: Promise<unknown> = Promise.resolve();
    return (batch) => {
      const outcomes = last.then(() => this.run(batch));
      last = outcomes.catch(() => undefined);
      return outcomes;
    };
  }

  private async run(batch: readonly JournalEntry[]): Promise<JournalOutcome[]> {
    this.statements.push(batch.map(({ taskId }) => taskId));
    for (const { count, resolve } of this.listeners) if (this.statements.length >= count) resolve();
    await this.hold(batch);
    const error = this.fault(batch);
    if (error) throw error;
    const made = new Set(batch.flatMap(({ taskId, create }) => (create ? [taskId] : [])));
    return batch.map((entry) => this.writeEntry(entry, made));
  }

  async probeWrite(): Promise<void> {
    // The server is always there.
  }

  async readRecordedEvents(taskId: string, after: number, limit: number): Promise<{ json: string }[]> {
    return (this.logs.get(taskId) ?? []).slice(after, after + limit).map((json) => ({ json }));
  }

  /** Resolves when `count` statements have arrived. */
  async reached(count: number): Promise<void> {
    if (this.statements.length >= count) return;
    await new Promise<void>((resolve) => this.listeners.push({ count, resolve }));
  }

  private writeEntry({ taskId, create, after, events }: JournalEntry, made: ReadonlySet<string>): JournalOutcome {
    const parent = create?.header.parentTaskId;
    if (parent !== undefined && !made.has(parent) && !this.logs.has(parent)) return 'fenced';
    const log = this.logs.get(taskId) ?? [];
    if (log.length !== after) return 'fenced';
    this.logs.set(taskId, [...log, ...events.map(({ json }) => json)]);
    return 'written';
  }
}
