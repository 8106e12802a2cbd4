import pg from 'pg';
import { requiredAuth } from '#libs/service';
import { ScramClient } from './scram-client.js';
import { withIsoTimes } from './session-settings.js';
import { SESSIONS_OF_PROCESS, watchedClient } from './watched-client.js';

export const CONNECT_TIMEOUT_MS = 10_000;
export const KEEP_ALIVE_DELAY_MS = 5_000;

/** Returns the connection options of all sessions of this process. */
export function connectionOptions(url: string): pg.PoolConfig {
  return {
    connectionString: url,
    application_name: SESSIONS_OF_PROCESS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    Client: clientOf(url),
  };
}

/**
 * Returns the class of all sessions with the database at the address. They are cut when their connection is lost (see
 * SessionWatch). `require_auth=scram-sha-256` in the URL makes the server prove itself.
 */
export function clientOf(url: string): typeof pg.Client {
  return watchedClient(url, withIsoTimes(requiredAuth(url) === undefined ? pg.Client : ScramClient));
}

type QueryFunction = (config: unknown, ...rest: unknown[]) => unknown;

/**
 * Derives a client class that names no statements. Behind a transaction pooler the next statement may run in a session
 * where the name is unknown, or belongs to another client. (PgBouncer supports names from 1.21 on, if configured.)
 */
export function withoutNames(Client: typeof pg.Client): typeof pg.Client {
  return class UnnamedStatementsClient extends Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      const query = this.query.bind(this) as QueryFunction;
      this.query = ((config: unknown, ...rest: unknown[]) => query(withoutName(config), ...rest)) as typeof this.query;
    }
  };
}

function withoutName(config: unknown): unknown {
  return isNamed(config) ? { ...config, name: undefined } : config;
}

/** True for named statements. Objects that submit themselves are left unchanged. */
function isNamed(config: unknown): config is pg.QueryConfig {
  return typeof config === 'object' && config !== null && 'name' in config && !('submit' in config);
}
