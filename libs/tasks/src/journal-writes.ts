import type { Database } from '#libs/postgres';
import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { CountFolding } from './count-folding.js';
import { JournalSession } from './journal-session.js';
import { batchStatement } from './journal-statement.js';
import { eventsOver } from './stored-events.js';
import type { RecordedEvent } from './task-event.js';
import type { EntryWrites, JournalEntry, JournalOutcome } from './task-store.js';

/** Writes batches on one session, one after the other, as a separate writer in the commit log. */
export class JournalWrites implements EntryWrites {
  private readonly session: JournalSession;
  /** Folds the counts that the writes have added. */
  private readonly folding: CountFolding;

  /** @param purpose name of the session */
  constructor(
    private readonly database: Database,
    purpose: string,
  ) {
    this.session = new JournalSession(database, purpose);
    this.folding = new CountFolding(database);
  }

  async writeBatch(batch: readonly JournalEntry[]): Promise<JournalOutcome[]> {
    refuseDoubles(batch);
    const timed = batch.map((entry) => this.withDatabaseTimes(entry));
    const { rows } = await this.session.commitStatement((position) => {
      const statement = batchStatement(timed, position);
      return (client) => answerOf(client, statement);
    });
    this.folding.scheduleFold(this.session.writer);
    const written = new Set(rows.map((row) => row.task_id));
    return batch.map((entry) => (written.has(entry.taskId) ? 'written' : 'fenced'));
  }

  readRecordedEvents(taskId: string, afterSequence: number, limit: number): Promise<RecordedEvent[]> {
    return this.runStatement((client) => eventsOver(client, taskId, afterSequence, limit));
  }

  /** Runs a statement after the batches that were sent before. */
  runStatement<T>(statement: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.session.runStatement(statement);
  }

  probeWrite(): Promise<void> {
    return this.session.probeWrite();
  }

  /** Returns the entry with its times converted to the database's clock, which wakes and jobs use. */
  private withDatabaseTimes(entry: JournalEntry): JournalEntry {
    const { wakeAt, jobs } = entry;
    if (wakeAt === undefined && jobs === undefined) return entry;
    const toDatabaseTime = (at: Date): Date => this.database.timeThere(at);
    return {
      ...entry,
      ...(wakeAt && { wakeAt: toDatabaseTime(wakeAt) }),
      ...(jobs && { jobs: jobs.map((job) => (job.runAt ? { ...job, runAt: toDatabaseTime(job.runAt) } : job)) }),
    };
  }
}

/**
 * Rejects a batch with two entries of one Task, as from a process that has lost a Task and regained it. The statement
 * would write the events of both, and no key of the log would conflict because the events share rows.
 */
function refuseDoubles(batch: readonly JournalEntry[]): void {
  if (batch.length === 1) return;
  const taskIds = new Set<string>();
  for (const { taskId } of batch) taskIds.add(taskId);
  if (taskIds.size < batch.length) throw new TypeError('A Task occurs twice in a batch');
}

/** Returns the result of `client.query`. An async function would make V8 retain the batch for long (see ShortLivedMap). */
function answerOf(client: PoolClient, statement: QueryConfig): Promise<QueryResult<{ task_id: string }>> {
  return new Promise((resolve, reject) => {
    client.query<{ task_id: string }>(statement, (error, result) => (error ? reject(error) : resolve(result)));
  });
}
