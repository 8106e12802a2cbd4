import pg from 'pg';

const END_WAITING = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/**
 * Executes work while every write to a table waits; reads are answered.
 * @param work gets a function that ends the waiting sessions, as otherwise statements of a killed process would still
 * be committed
 */
export async function withLockedTable<T>(
  url: string,
  table: string,
  work: (endWaiting: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const session = new pg.Client({ connectionString: url });
  await session.connect();
  try {
    await session.query('BEGIN');
    await session.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
    return await work(async () => void (await session.query(END_WAITING)));
  } finally {
    await session.end();
  }
}
