import pg from 'pg';
import { DataSource, getMetadataArgsStorage, type Logger } from 'typeorm';

/**
 * The repositories of every entity that was imported; none of them makes or changes a table. Each statement goes to the
 * pool as any other does: one that writes waits while the server only reads, and a pooler may give it any session. So
 * `save` and `remove`, which begin a transaction, reject: what belongs together is one statement. So does whatever writes
 * to a table whose entity says `static readonly readOnly = true`.
 */
export function openRepositories(pool: pg.Pool): Promise<DataSource> {
  const { tables } = getMetadataArgsStorage();
  const readOnly = tables.filter(({ target }) => (target as { readOnly?: boolean }).readOnly);
  return new DataSource({
    type: 'postgres',
    driver: { ...pg, Pool: sharing(pool, new Set(readOnly.map(({ name }) => name))) },
    installExtensions: false,
    synchronize: false,
    entities: tables.map(({ target }) => target),
    logger: PLAIN_ERRORS,
  }).initialize();
}

const nothing = (): void => undefined;

/** What a statement of TypeORM's that writes begins with. */
const WRITE = /^(?:INSERT INTO|UPDATE|DELETE FROM|TRUNCATE TABLE) "([^"]+)"/;

/** What TypeORM takes for a class of pools, and for the sessions in them. */
function sharing(pool: pg.Pool, readOnly: ReadonlySet<string | undefined>): () => object {
  const query = (text: string, values?: unknown[]): Promise<unknown> => {
    const [, written] = WRITE.exec(text) ?? [];
    if (written !== undefined && readOnly.has(written)) throw new Error(`Repositories only read ${written}`);
    if (text === 'START TRANSACTION') throw new Error('Repositories have no transactions: their sessions are the pool');
    return pool.query(text, values);
  };
  const session = { query, on: nothing, removeListener: nothing };
  const connect = (connected: (error: undefined, ...more: unknown[]) => void): void =>
    connected(undefined, session, nothing);
  return function SharedPool() {
    return { connect, on: nothing, end: (ended: () => void) => ended() };
  };
}

/**
 * Writes nothing: TypeORM's own logger writes to standard output whatever it is told. An error goes on as the database
 * gave it: TypeORM's carries the statement's values, secrets among them, to wherever it is logged.
 */
export const PLAIN_ERRORS: Logger = {
  logQuery: nothing,
  logQueryError: (error) => {
    throw error as Error;
  },
  logQuerySlow: nothing,
  logSchemaBuild: nothing,
  logMigration: nothing,
  log: nothing,
};
