import pg from 'pg';
import type { TestDatabase } from './postgres.js';

/**
 * Ends every session of the database that was opened for a purpose (see Database.createSession). @returns their number
 */
export async function endSessions(database: TestDatabase, purpose: string): Promise<number> {
  return besides(database, async (session, name) => {
    const { rowCount } = await session.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = $1 AND application_name LIKE 'parley:%:' || $2`,
      [name, purpose],
    );
    return rowCount ?? 0;
  });
}

/** Allows or forbids new connections to the database. Existing connections stay open. */
export async function allowConnections(database: TestDatabase, allowed: boolean): Promise<void> {
  await besides(database, (session, name) => session.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${allowed}`));
}

/**
 * Executes work in a session with another database of the same server, since the tested database may accept no
 * connections.
 */
async function besides<T>(database: TestDatabase, work: (session: pg.Client, name: string) => Promise<T>): Promise<T> {
  const url = new URL(database.url);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const session = new pg.Client({ connectionString: url.href });
  session.on('error', () => undefined);
  await session.connect();
  try {
    return await work(session, name);
  } finally {
    await session.end();
  }
}
