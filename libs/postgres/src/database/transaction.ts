import type { PoolClient } from 'pg';
import type { Database } from './database.js';
import { isRolledBack, retryUntilWritable } from './outage.js';

/** Maximum number of attempts at one transaction. Deadlocks are rare, and several in a row rarer. */
const TRIES = 5;
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = '2s'`;

/**
 * Executes work in one transaction; an exception rolls it back.
 * - A process that stalls in the transaction loses its session: PostgreSQL rolls back after two idle seconds, since
 *   other transactions may wait for its locks.
 * - The work is repeated after such a rollback, after a deadlock, and while the server only reads. It must therefore
 *   change nothing but the database.
 */
export async function inTransaction<T>(
  database: Pick<Database, 'pool'>,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await retryUntilWritable(() => runTransaction(database, work));
    } catch (error) {
      if (tries >= TRIES || !isRolledBack(error)) throw error;
    }
  }
}

async function runTransaction<T>(
  { pool }: Pick<Database, 'pool'>,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  let reason: unknown;
  const keepFirstReason = (error: unknown): void => void (reason ??= error);
  client.on('error', keepFirstReason);
  try {
    await client.query(BEGIN);
    const result = await work(client).catch(async (error: unknown) => {
      keepFirstReason(error);
      await client.query('ROLLBACK');
      broken = false;
      throw error;
    });
    await client.query('COMMIT');
    broken = false;
    return result;
  } catch (error) {
    // A statement on an ended session fails with less information than the reason of its end.
    throw isRolledBack(reason) ? reason : error;
  } finally {
    client.off('error', keepFirstReason);
    client.release(broken);
  }
}
