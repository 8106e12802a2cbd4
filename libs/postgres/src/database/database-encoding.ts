import type pg from 'pg';
import { ConfigError } from '#libs/service';

/** Returns one sentence that states why a database of this encoding is unusable; `undefined` for UTF8. */
export function encodingProblem(encoding: string): string | undefined {
  if (encoding === 'UTF8') return undefined;
  return (
    `DATABASE_URL: the database has the encoding ${encoding}, which cannot keep every text: ` +
    `create one with ENCODING 'UTF8' TEMPLATE template0`
  );
}

/** @throws ConfigError if the encoding of the session's database is not UTF8 */
export async function assertUtf8(session: Pick<pg.ClientBase, 'query'>): Promise<void> {
  const { rows } = await session.query<{ encoding: string }>(`SELECT current_setting('server_encoding') AS encoding`);
  const problem = encodingProblem(rows[0]!.encoding);
  if (problem !== undefined) throw new ConfigError([problem]);
}
