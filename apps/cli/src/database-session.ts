import pg from 'pg';
import { clientOf } from '#libs/postgres';
import { CommandError, EXIT } from './exit-code.js';

/**
 * A session with the server of `DATABASE_URL`, which may take so long for its first answer; where the URL asks for that
 * (`require_auth`), the server has to prove itself before it is told anything.
 * @throws CommandError which says why there is none
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

/** What the database, or the way to it, is wrong with. */
export function databaseError(error: unknown): CommandError {
  // Where a name has several addresses, each of them failed, and the sum of it has no message.
  const [first = error] = (error as Partial<AggregateError>).errors ?? [];
  return new CommandError(`DATABASE_URL: ${(first as Error).message}`, EXIT.failed);
}
