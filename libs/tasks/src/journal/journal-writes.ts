import { randomBytes } from 'node:crypto';
import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg';
import { type Database, StatementNotSent } from '#libs/postgres';
import type { RecordedEvent } from '../fold/task-event.js';
import type { EntryWrites, JournalEntry, JournalOutcome } from '../store/task-store.js';
import { WRITER_SETTING } from './journal-sql.js';
import { batchStatement, JOURNAL_SETTINGS } from './journal-statement.js';
import { eventsOver } from './log-row.js';

/**
 * Milliseconds from a commit until the changes that it made to the counts of Tasks are added to the sums (see
 * CountFolding).
 */
const FOLD_AFTER_MS = 2_000;
const FOLDED_AT_ONCE = 5_000;

/**
 * Maintains the counts of Tasks. Journals append differences to `task_count_rest`; this class adds them to the sums in
 * `task_count_folded`, which is called folding. Readers add both tables, so counts are exact at any time. `foldAll`
 * also adds the differences that dead processes have left.
 */
export class CountFolding {
  private readonly pool: Pool;
  private timer: NodeJS.Timeout | undefined;

  constructor(database: Database) {
    this.pool = database.pool;
  }

  /**
   * Schedules `foldWriter` for a writer, FOLD_AFTER_MS from now. If that call fails, the differences are added after
   * the next commit, or by `foldAll`.
   */
  scheduleFold(writer: string): void {
    this.timer ??= setTimeout(() => void this.foldNow(writer), FOLD_AFTER_MS).unref();
  }

  /** Adds the count differences of a writer to the sums; stops when the signal aborts. */
  async foldWriter(writer: string, signal?: AbortSignal): Promise<void> {
    for (let folded = FOLDED_AT_ONCE; folded === FOLDED_AT_ONCE && !signal?.aborted;) {
      const { rows } = await this.pool.query<{ folded: number }>({
        name: 'fold-counts',
        text: FOLD,
        values: [writer, FOLDED_AT_ONCE],
      });
      folded = rows[0]?.folded ?? 0;
    }
  }

  /** Adds the count differences of all writers to the sums; stops when the signal aborts. */
  async foldAll(signal?: AbortSignal): Promise<void> {
    const { rows } = await this.pool.query<{ writer: string }>(UNFOLDED);
    for (const { writer } of rows) await this.foldWriter(writer, signal);
  }

  private async foldNow(writer: string): Promise<void> {
    await this.foldWriter(writer).catch(() => undefined);
    this.timer = undefined;
  }
}

const SCOPE = 'tenant, owner, agent, state';

// Concurrent folds of one writer share its rows: the one that deletes a row adds it.
const FOLD = `
  WITH picked AS MATERIALIZED (
    SELECT writer, id FROM task_count_rest
    WHERE writer = $1 AND id > coalesce((SELECT folded FROM task_count_mark WHERE writer = $1), 0)
    ORDER BY id LIMIT $2
  ),
  gone AS (
    DELETE FROM task_count_rest AS rest USING picked WHERE rest.writer = picked.writer AND rest.id = picked.id
    RETURNING rest.*
  ),
  summed AS (
    INSERT INTO task_count_folded AS held (${SCOPE}, writer, tasks)
    SELECT ${SCOPE}, $1, sum(tasks) FROM gone GROUP BY ${SCOPE} HAVING sum(tasks) <> 0 ORDER BY ${SCOPE}
    ON CONFLICT (${SCOPE}, writer) DO UPDATE SET tasks = held.tasks + EXCLUDED.tasks
  ),
  marked AS (
    INSERT INTO task_count_mark AS held (writer, folded) SELECT $1, max(id) FROM gone HAVING count(*) > 0
    ON CONFLICT (writer) DO UPDATE SET folded = greatest(held.folded, EXCLUDED.folded)
  )
  SELECT count(*)::int AS folded FROM gone`;

const UNFOLDED = `
  SELECT held.writer FROM task_writer AS held LEFT JOIN task_count_mark AS mark USING (writer)
  WHERE EXISTS (SELECT FROM task_count_rest AS rest WHERE rest.writer = held.writer AND rest.id > coalesce(mark.folded, 0))`;

/** Database session on which batches are written, and the number of batches under way. */
interface OpenJournalSession {
  client: Promise<PoolClient>;
  writers: number;
  isBroken: boolean;
  /** Resolves when the newest batch on this session has been answered. */
  answered: Promise<void>;
}

/**
 * Database session on which a process writes its batches, in order, and the positions of their commits.
 * - Concurrent batches queue up at one session, not at its pool. A session that breaks fails all of them, so no batch
 *   is written on the next session before an earlier batch that was lost.
 * - A failed batch also fails the batches behind it, even if the session survives: a Task must not exist before the
 *   event of the Task that calls it.
 * - Commits of a process become visible in the order of their positions. A statement whose answer was lost may still
 *   run at the server. Before the next session writes, it inserts empty commits at the positions of failed statements.
 *   The insertion waits for such statements that still run. A failed statement that reaches the server later violates
 *   the primary key of `task_commit` and is rolled back.
 */
export class JournalSession {
  /** Pool with only this session, for queries that must run in the session that writes batches. */
  readonly pool: Pool;
  /** Name of this writer in the commit log. */
  readonly writer = randomBytes(6).toString('base64url');
  private open: OpenJournalSession | undefined;
  private next = 0n;
  /** Lowest position whose statement failed since the last session began; `undefined` if none did. */
  private lowestInDoubt: bigint | undefined;
  /**
   * Sessions that have inserted this writer into `task_writer`. The row of a writer without commits for days is
   * deleted, but the pool ends an idle session long before. The next session then inserts the writer again.
   */
  private readonly announced = new WeakSet<PoolClient>();

  /** @param purpose name of the session */
  constructor(database: Database, purpose: string) {
    this.pool = database.tunedPool(purpose, 1, { ...JOURNAL_SETTINGS, [WRITER_SETTING]: `'${this.writer}'` });
  }

  /** Runs a statement on this session, after the statements that were sent before. */
  runStatement<T>(statement: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.useSession(async (client, { answered }) => {
      await answered;
      return statement(client);
    });
  }

  /**
   * Runs a statement that creates a commit with a new position, if the statement writes anything.
   * @param prepare builds the statement while earlier statements run
   * @throws StatementNotSent if an earlier statement failed
   */
  commitStatement<T>(prepare: (position: string) => (client: PoolClient) => Promise<T>): Promise<T> {
    return this.useSession(async (client, session) => {
      const position = this.next;
      this.next += 1n;
      const before = session.answered;
      const { promise, resolve } = Promise.withResolvers<void>();
      session.answered = promise;
      try {
        const statement = prepare(position.toString());
        await before;
        if (session.isBroken) throw new StatementNotSent();
        return await statement(client);
      } catch (error) {
        session.isBroken = true;
        if (this.lowestInDoubt === undefined || position < this.lowestInDoubt) this.lowestInDoubt = position;
        throw error;
      } finally {
        resolve();
      }
    });
  }

  /** Commits a write that changes nothing. Resolves if batches can be written at the moment. */
  async probeWrite(): Promise<void> {
    await this.pool.query(PROBE);
  }

  private async useSession<T>(work: (client: PoolClient, session: OpenJournalSession) => Promise<T>): Promise<T> {
    this.open ??= { client: this.connectSession(), writers: 0, isBroken: false, answered: Promise.resolve() };
    const session = this.open;
    session.writers += 1;
    try {
      return await work(await session.client, session);
    } catch (error) {
      session.isBroken = true;
      throw error;
    } finally {
      session.writers -= 1;
      if (session.writers === 0) this.releaseSession(session);
    }
  }

  private async connectSession(): Promise<PoolClient> {
    const client = await this.pool.connect();
    try {
      await this.announceWriter(client);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  private async announceWriter(client: PoolClient): Promise<void> {
    if (this.announced.has(client)) return;
    const from = this.lowestInDoubt?.toString();
    const { rows } = await client.query<{ position: string }>(ANNOUNCE, [from, (this.next - 1n).toString()]);
    const begun = BigInt(rows[0]!.position) + 1n;
    if (begun > this.next) this.next = begun;
    this.lowestInDoubt = undefined;
    this.announced.add(client);
  }

  /** Returns the session to its pool. The next batch gets the same session, unless the session broke. */
  private releaseSession(session: OpenJournalSession): void {
    this.open = undefined;
    session.client.then(
      (client) => client.release(session.isBroken),
      () => undefined,
    );
  }
}

const WRITER = `current_setting('${WRITER_SETTING}')`;

// A writer's positions begin at the clock's time, ahead of any earlier row with the writer's name.
const ANNOUNCE = `
  WITH announced AS (
    INSERT INTO task_writer AS held (writer, position) VALUES (${WRITER}, (extract(epoch FROM now()) * 1000)::bigint)
    ON CONFLICT (writer) DO UPDATE SET position = greatest(held.position + 1, EXCLUDED.position)
    RETURNING position
  ),
  filled AS (
    INSERT INTO task_commit (writer, position, task_ids, afters, last_sequences, committed_at)
    SELECT ${WRITER}, position, '{}', '{}', '{}', now()
    FROM generate_series($1::bigint, $2::bigint) AS doubtful (position)
    ON CONFLICT DO NOTHING
  )
  SELECT position::text FROM announced`;

// The probe needs a transaction id, a row and a commit, as a batch does.
const PROBE = `
  INSERT INTO task_writer AS held (writer, position) VALUES (${WRITER}, 0)
  ON CONFLICT (writer) DO UPDATE SET position = held.position`;

/**
 * Writes batches on one database session, one after the other. Each instance is a writer of its own in the commit log
 * (`CommitLog`): it has its own name there, and numbers its own commits.
 */
export class JournalWrites implements EntryWrites {
  private readonly session: JournalSession;
  /** Adds the changes in the counts of Tasks to the sums. Each batch appends its changes to `task_count_rest` first. */
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

  /** Runs a statement on the session of the batches, after the batches that were sent before. */
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
 * Rejects a batch with two entries of one Task. A process that has lost a Task and regained it may have two. The
 * statement would write the events of both entries; no key of the log would conflict, because events share rows.
 * @throws TypeError
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
