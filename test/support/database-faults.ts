import pg from 'pg';
import type { TestDatabase } from './postgres.js';

/** Ends every session of the database that was opened for a purpose (see Database.createSession); gives their number. */
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

/** Whether the database takes new connections; those that it has go on. */
export async function allowConnections(database: TestDatabase, allowed: boolean): Promise<void> {
  await besides(database, (session, name) => session.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${allowed}`));
}

/** Works on a database from another one of the same server, since it may let nobody in. */
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
