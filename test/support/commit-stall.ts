import pg from 'pg';
import { until } from './until.js';

/** Settings of a PostgreSQL server whose commits can be stalled (see OwnPostgres). */
export const STALLABLE = ['wal_level=replica', 'max_wal_senders=1'];

/**
 * Makes every commit of the server wait, as if its synchronous standby were gone. Sessions stay open, and reads are
 * answered.
 */
export function stallCommits(url: string): Promise<void> {
  return setStandby(url, 'nobody');
}

/** Ends the stall: waiting commits and all later ones succeed. */
export function letCommit(url: string): Promise<void> {
  return setStandby(url, '');
}

async function setStandby(url: string, name: string): Promise<void> {
  const session = new pg.Client({ connectionString: url });
  // What is lost fails the query that is under way, or the next one.
  session.on('error', () => undefined);
  await session.connect();
  try {
    await session.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await session.query('SELECT pg_reload_conf()');
    const isSet = async (): Promise<boolean> => {
      const { rows } = await session.query<{ name: string }>(
        `SELECT current_setting('synchronous_standby_names') AS name`,
      );
      return rows[0]?.name === name;
    };
    await until(isSet, { what: 'the server to know its standby' });
  } finally {
    await session.end();
  }
}
