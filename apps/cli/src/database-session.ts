import pg from 'pg';
import { clientOf } from '#libs/postgres';
import { CommandError, EXIT } from './exit-code.js';

/**
 * Opens a session with a PostgreSQL server, whose first answer must come within `withinMs` milliseconds. If the URL
 * requires it (`require_auth`), the server must authenticate itself before it receives anything.
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

/** Returns the error of a database, or of the connection to it, as an error for the user. */
export function databaseError(error: unknown): CommandError {
  // If a name has several addresses, each failed; the aggregate error has no message.
  const [first = error] = (error as Partial<AggregateError>).errors ?? [];
  return new CommandError(`DATABASE_URL: ${(first as Error).message}`, EXIT.failed);
}
