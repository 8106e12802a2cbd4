import type { Database } from '#libs/platform';
import type { PoolClient } from 'pg';

const BEGIN = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '2s'`;

/**
 * Does some work in one transaction; what it throws rolls back. The journal may wait for what it locks, so a process that
 * stands still in the middle of it loses the session: PostgreSQL rolls back two seconds later.
 */
export async function inTransaction<T>({ pool }: Database, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query(BEGIN);
    const result = await work(client).catch(async (error: unknown) => {
      await client.query('ROLLBACK');
      broken = false;
      throw error;
    });
    await client.query('COMMIT');
    broken = false;
    return result;
  } finally {
    client.release(broken);
  }
}
