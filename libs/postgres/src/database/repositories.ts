import pg from 'pg';
import { DataSource, getMetadataArgsStorage, type Logger } from 'typeorm';

/**
 * Opens the repositories of every imported entity; none of them creates or changes a table.
 * - Each statement goes to the shared pool: writes wait while the server only reads, and a pooler may choose any
 *   session.
 * - `save` and `remove`, which begin a transaction, reject: dependent writes must be one statement.
 * - Writes to a table whose entity declares `static readonly readOnly = true` reject as well.
 */
export function openRepositories(pool: pg.Pool): Promise<DataSource> {
  const { tables } = getMetadataArgsStorage();
  const readOnly = tables.filter(({ target }) => (target as { readOnly?: boolean }).readOnly);
  return new DataSource({
    type: 'postgres',
    driver: { ...pg, Pool: sharedPoolClass(pool, new Set(readOnly.map(({ name }) => name))) },
    installExtensions: false,
    synchronize: false,
    entities: tables.map(({ target }) => target),
    logger: PLAIN_ERRORS,
  }).initialize();
}

const doNothing = (): void => undefined;

/** Beginning of TypeORM's writing statements. */
const WRITE = /^(?:INSERT INTO|UPDATE|DELETE FROM|TRUNCATE TABLE) "([^"]+)"/;

/**
 * Returns the pool class that TypeORM is given in place of the class of pg. Its sessions send every statement to
 * `pool`.
 * @param readOnly names of the tables to which a write throws
 */
function sharedPoolClass(pool: pg.Pool, readOnly: ReadonlySet<string | undefined>): () => object {
  const query = (text: string, values?: unknown[]): Promise<unknown> => {
    const [, written] = WRITE.exec(text) ?? [];
    if (written !== undefined && readOnly.has(written)) throw new Error(`Repositories only read ${written}`);
    if (text === 'START TRANSACTION') throw new Error('Repositories have no transactions: their sessions are the pool');
    return pool.query(text, values);
  };
  const session = { query, on: doNothing, removeListener: doNothing };
  const connect = (connected: (error: undefined, ...more: unknown[]) => void): void =>
    connected(undefined, session, doNothing);
  return function SharedPool() {
    return { connect, on: doNothing, end: (ended: () => void) => ended() };
  };
}

/**
 * Logger of TypeORM that writes nothing, because TypeORM's default logger writes to standard output.
 * `logQueryError`, which TypeORM calls when a query fails, throws the database's own error. TypeORM would otherwise
 * throw a `QueryFailedError` that has the values of the statement, including secrets, and logs would show them.
 */
export const PLAIN_ERRORS: Logger = {
  logQuery: doNothing,
  logQueryError: (error) => {
    throw error as Error;
  },
  logQuerySlow: doNothing,
  logSchemaBuild: doNothing,
  logMigration: doNothing,
  log: doNothing,
};
