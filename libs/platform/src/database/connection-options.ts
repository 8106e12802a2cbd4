import pg from 'pg';
import { ScramClient } from './scram-client.js';

export const CONNECT_TIMEOUT_MS = 10_000;
export const KEEP_ALIVE_DELAY_MS = 5_000;

/** How every session of this process connects. */
export function connectionOptions(url: string): pg.PoolConfig {
  return {
    connectionString: url,
    application_name: `parley:${process.pid}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    Client: clientOf(url),
  };
}

/** What a session of the database is made of: `require_auth=scram-sha-256` in the URL makes the server prove itself. */
export function clientOf(url: string): typeof pg.Client {
  return requiredAuth(url) === undefined ? pg.Client : ScramClient;
}

/** libpq's connection parameter of that name. Its only value that is known here is `scram-sha-256`. */
export function requiredAuth(url: string): string | undefined {
  return /[?&]require_auth=([^&#]*)/.exec(url)?.[1];
}
