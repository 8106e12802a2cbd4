import type pg from 'pg';

export const CONNECT_TIMEOUT_MS = 10_000;
export const KEEP_ALIVE_DELAY_MS = 5_000;

/** How every session of this process connects. */
export function connectionOptions(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: `parley:${process.pid}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
  };
}
