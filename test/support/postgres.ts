import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** Database for one test file, on the PostgreSQL that the global setup of the test run started. */
export interface TestDatabase {
  url: string;
  /** Executes one statement and returns its rows. */
  query<T extends object = Record<string, unknown>>(sql: string, values?: unknown[]): Promise<T[]>;
  /** Returns the number of rows per table, for the tables that a refused request must not change. */
  counts(): Promise<Record<string, number>>;
  /** Ends the sessions of this object. A server copies no database that has any. */
  end(): Promise<void>;
  drop(): Promise<void>;
}

const COUNTED = ['task', 'task_event', 'workflow'];

/** Creates a database, as a copy of the migrated template if there is one. End it with `drop()` in `afterAll`. */
export async function freshDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const server = serverUrl();
  const name = `test_${randomBytes(8).toString('hex')}`;
  const template = options.empty ? undefined : process.env.PARLEY_TEST_TEMPLATE;
  await administer(
    server,
    `CREATE DATABASE ${name}${template === undefined ? '' : ` TEMPLATE ${template} STRATEGY FILE_COPY`}`,
  );
  const url = new URL(server);
  url.pathname = `/${name}`;
  const { query, end: endSessions } = openDatabase(url.href);
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => (ended ??= endSessions());
  return {
    url: url.href,
    query,
    counts: () => countRows(query),
    end,
    drop: async () => {
      await end();
      await administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** Opens an existing database for queries. */
export function openDatabase(url: string): Pick<TestDatabase, 'query'> & { end(): Promise<void> } {
  const pool = patientPool({ connectionString: url, max: 2 });
  return {
    query: async <T extends object>(sql: string, values: unknown[] = []): Promise<T[]> =>
      (await pool.query(sql, values)).rows as T[],
    end: () => pool.end(),
  };
}

/**
 * Creates a pool whose sessions the server may end at any time. pg-pool's `end()` resolves before its sessions have
 * ended and no longer listens to them: the error of a session whose database is dropped meanwhile would end the
 * process.
 */
export function patientPool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(options);
  pool.on('error', () => undefined);
  pool.on('connect', (session) => session.on('error', () => undefined));
  return pool;
}

async function countRows(query: TestDatabase['query']): Promise<Record<string, number>> {
  const rows = await query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_name = ANY($1)`,
    [COUNTED],
  );
  if (rows.length !== COUNTED.length) throw new Error(`Expected tables ${COUNTED.join(', ')}; found ${rows.length}`);
  const counts: Record<string, number> = {};
  for (const { name } of rows) {
    const [row] = await query<{ n: number }>(`SELECT count(*)::int AS n FROM "${name}"`);
    counts[name] = row?.n ?? -1;
  }
  return counts;
}

function serverUrl(): string {
  const url = process.env.PARLEY_TEST_POSTGRES;
  if (url === undefined)
    throw new Error('No PostgreSQL for tests: run this through the e2e project of jest.config.mjs');
  return url;
}

/** Pools with one session each, for all files of a process. A session may be ended by the server. */
const sessions = new Map<string, pg.Pool>();

async function administer(server: string, sql: string): Promise<void> {
  const known = sessions.get(server);
  const session =
    known ?? patientPool({ connectionString: server, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
  sessions.set(server, session);
  await session.query(sql);
}
