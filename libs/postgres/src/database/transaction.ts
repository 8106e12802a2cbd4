import type { PoolClient } from 'pg';
import type { Database } from './database.js';
import { isRolledBack, onceWritable } from './outage.js';

/** Deadlocks are rare: two in a row are rarer. */
const TRIES = 5;
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = '2s'`;

/**
 * Does some work in one transaction; what it throws rolls back. Others may wait for what it locks, so a process that
 * stands still in the middle of it loses the session: PostgreSQL rolls back two seconds later. After that, and where
 * PostgreSQL sacrifices it to end a deadlock, or only reads at the moment, the work is done again; so it changes nothing but
 * the database.
 */
export async function inTransaction<T>(
  database: Pick<Database, 'pool'>,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await onceWritable(() => once(database, work));
    } catch (error) {
      if (tries >= TRIES || !isRolledBack(error)) throw error;
    }
  }
}

async function once<T>({ pool }: Pick<Database, 'pool'>, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  let reason: unknown;
  const heed = (error: unknown): void => void (reason ??= error);
  client.on('error', heed);
  try {
    await client.query(BEGIN);
    const result = await work(client).catch(async (error: unknown) => {
      heed(error);
      await client.query('ROLLBACK');
      broken = false;
      throw error;
    });
    await client.query('COMMIT');
    broken = false;
    return result;
  } catch (error) {
    // What is said to a session that has ended fails with less than why it did.
    throw isRolledBack(reason) ? reason : error;
  } finally {
    client.off('error', heed);
    client.release(broken);
  }
}
