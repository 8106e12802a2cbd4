import { randomBytes } from 'node:crypto';
import { type Database, StatementNotSent } from '#libs/postgres';
import type { Pool, PoolClient } from 'pg';
import { WRITER_SETTING } from './journal-sql.js';
import { JOURNAL_SETTINGS } from './journal-statement.js';

/** Session that batches are being written on, and their number. */
interface OpenJournalSession {
  client: Promise<PoolClient>;
  writers: number;
  isBroken: boolean;
  /** Resolves when the newest batch has been answered. */
  answered: Promise<void>;
}

/**
 * Session on which a process writes its batches, in order, and the positions of their commits.
 * - Concurrent batches queue up at one session, not at its pool. A session that breaks fails all of them, so none
 *   overtakes a lost one on the next session. A failed batch also fails those behind it, even if the session survives:
 *   a Task must not exist before the event of the Task that calls it.
 * - Commits of a process become visible in the order of their positions. A statement whose answer was lost may still
 *   run at the server. Before the next session writes, it fills the positions in doubt: that waits for running
 *   statements, and a later one violates the primary key of `task_commit` and is rolled back.
 */
export class JournalSession {
  /** Pool of one session; for queries that must run where batches are written. */
  readonly pool: Pool;
  /** Name of this process in the commit log. */
  readonly writer = randomBytes(6).toString('base64url');
  private open: OpenJournalSession | undefined;
  private next = 0n;
  /** Lowest position whose statement failed since the last session began. */
  private lowestInDoubt: bigint | undefined;
  /**
   * Sessions that have been announced. The pool ends an idle session, so an announced one never belongs to a forgotten
   * writer.
   */
  private readonly announced = new WeakSet<PoolClient>();

  /** @param purpose name of the session */
  constructor(database: Database, purpose: string) {
    this.pool = database.tunedPool(purpose, 1, { ...JOURNAL_SETTINGS, [WRITER_SETTING]: `'${this.writer}'` });
  }

  /** Runs a statement after those that were sent before. */
  runStatement<T>(statement: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.useSession(async (client, { answered }) => {
      await answered;
      return statement(client);
    });
  }

  /**
   * Runs a statement that makes a commit at its own position, if it writes anything.
   * @param prepare builds the statement while earlier ones run
   * @throws StatementNotSent if an earlier one failed
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

  /** Commits a write like that of a batch, which changes nothing. Resolves if batches can be written at the moment. */
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

  /** Returns the session to its pool. The next batch gets the same one, unless it broke. */
  private releaseSession(session: OpenJournalSession): void {
    this.open = undefined;
    session.client.then(
      (client) => client.release(session.isBroken),
      () => undefined,
    );
  }
}

const WRITER = `current_setting('${WRITER_SETTING}')`;

// A writer's positions begin at the clock, ahead of any earlier row of its name.
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

// Needs a transaction id, a row and a commit, as a batch does.
const PROBE = `
  INSERT INTO task_writer AS held (writer, position) VALUES (${WRITER}, 0)
  ON CONFLICT (writer) DO UPDATE SET position = held.position`;
