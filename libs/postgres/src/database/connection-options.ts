import pg from 'pg';
import { requiredAuth } from '#libs/service';
import { ScramClient } from './scram-client.js';
import { withIsoTimes } from './session-settings.js';
import { SESSIONS_OF_PROCESS, watchedClient } from './watched-client.js';

export const CONNECT_TIMEOUT_MS = 10_000;
export const KEEP_ALIVE_DELAY_MS = 5_000;

/** How every session of this process connects. */
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
 * Returns the class of all sessions with the database at the address, which are cut when their connection is lost (see
 * SessionWatch). `require_auth=scram-sha-256` in the URL makes the server prove itself.
 */
export function clientOf(url: string): typeof pg.Client {
  return watchedClient(url, withIsoTimes(requiredAuth(url) === undefined ? pg.Client : ScramClient));
}

type Statement = (config: unknown, ...rest: unknown[]) => unknown;

/**
 * A client class that names no statement: behind a pooler of transactions the next one may come to a session where the
 * name is unknown, or another client's. (PgBouncer knows names from 1.21 on, where it is told so.)
 */
export function withoutNames(Client: typeof pg.Client): typeof pg.Client {
  return class UnnamedStatementsClient extends Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      const query = this.query.bind(this) as Statement;
      this.query = ((config: unknown, ...rest: unknown[]) => query(unnamed(config), ...rest)) as typeof this.query;
    }
  };
}

function unnamed(config: unknown): unknown {
  return isNamed(config) ? { ...config, name: undefined } : config;
}

/** What submits itself is left as it is. */
function isNamed(config: unknown): config is pg.QueryConfig {
  return typeof config === 'object' && config !== null && 'name' in config && !('submit' in config);
}
