import pg from 'pg';
import { DataSource, getMetadataArgsStorage, type Logger } from 'typeorm';

/**
 * The repositories of every entity that was imported; none of them makes or changes a table. Each statement goes to the
 * pool as any other does: one that writes waits while the server only reads, and a pooler may give it any session. So
 * `save` and `remove`, which begin a transaction, reject: what belongs together is one statement.
 */
export function openRepositories(pool: pg.Pool): Promise<DataSource> {
  return new DataSource({
    type: 'postgres',
    driver: { ...pg, Pool: sharing(pool) },
    installExtensions: false,
    synchronize: false,
    entities: getMetadataArgsStorage().tables.map(({ target }) => target),
    logger: PLAIN_ERRORS,
  }).initialize();
}

const nothing = (): void => undefined;

type Ended = () => void;
type Connected = (error: undefined, session: object, release: Ended) => void;

/** What TypeORM takes for a pool, and for the sessions in it. */
function sharing(pool: pg.Pool): new () => object {
  const session = {
    on: nothing,
    removeListener: nothing,
    query: (text: string, values?: unknown[]) => {
      if (text === 'START TRANSACTION')
        throw new Error('Repositories have no transactions: their sessions are the pool');
      return pool.query(text, values);
    },
  };
  return class SharedPool {
    on = nothing;
    connect(connected: Connected): void {
      connected(undefined, session, nothing);
    }
    end(ended: Ended): void {
      ended();
    }
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
