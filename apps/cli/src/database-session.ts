import pg from 'pg';
import { clientOf } from '#libs/postgres';
import { CommandError, EXIT } from './exit-code.js';

/**
 * Opens a session with a PostgreSQL server, which must answer for the first time within `withinMs` milliseconds. If the
 * URL has `require_auth`, no password and no statement is sent until the server has authenticated itself.
 * @throws CommandError with the reason of a failure
 */
export async function databaseSession(
  url: string,
  withinMs: number,
  options: pg.ClientConfig = {},
): Promise<pg.Client> {
  let client: pg.Client | undefined;
  try {
    client = new (clientOf(url))({
      connectionString: url,
      connectionTimeoutMillis: withinMs,
      keepAlive: true,
      ...options,
    });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  } catch (error) {
    await client?.end().catch(() => undefined);
    throw databaseError(error);
  }
}

/**
 * Converts an error of PostgreSQL, or of the connection to the server, to a CommandError that begins with
 * `DATABASE_URL:`.
 */
export function databaseError(error: unknown): CommandError {
  // If a name has several addresses, each failed; the aggregate error has no message.
  const [first = error] = (error as Partial<AggregateError>).errors ?? [];
  return new CommandError(`DATABASE_URL: ${(first as Error).message}`, EXIT.failed);
}
