import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { moveInstallation, tryMigrationLock } from '#libs/postgres';
import { CommandError, EXIT } from './exit-code.js';
import { type PostgresProgram, programsHere, runProgram } from './postgres-programs.js';
import { sealedSecrets, type ServiceDatabase, withServiceDatabase } from './service-database.js';
import type { Session } from './session.js';

/**
 * Restores a backup into an empty database, completely or not at all. Refuses a database that contains anything. A
 * service that starts on this database waits until the restore has ended.
 */
export async function restoreBackup(session: Session, name: string): Promise<void> {
  const { terminal, signal } = session;
  const file = resolve(name);
  if (!existsSync(file)) throw new CommandError(`${file} does not exist.`);
  const restored = await withServiceDatabase(session, { program: 'pg_restore', mayBeNew: true }, async (database) => {
    const program = await readerOf(file, database.program, signal);
    await refuseOccupied(database);
    terminal.writeNote(`Reading ${file} …`);
    const flags = ['--no-owner', '--no-privileges', '--no-comments', '--exit-on-error', '--single-transaction'];
    await runProgram(program, [...flags, file], database.url, signal);
    // The restored installation belongs to this database from now on.
    await moveInstallation(database.client);
    const { unreadable } = await sealedSecrets(database);
    return { file, tables: await countTables(database), unreadable };
  });
  terminal.writeResult(restored, () => `${restored.tables} tables restored from ${file}.`);
  terminal.writeNote(restoreAdvice(restored.unreadable));
}

/**
 * Returns the oldest installed pg_restore that can read the file and works with the server.
 * @param oldest oldest installed pg_restore that works with the server
 * @throws CommandError if no pg_restore can read the file, or the file is no backup of Parley
 */
async function readerOf(file: string, oldest: PostgresProgram, signal: AbortSignal): Promise<PostgresProgram> {
  let refusal = '';
  for (const program of programsHere('pg_restore').filter(({ version }) => version >= oldest.version)) {
    try {
      const list = await runProgram(program, ['--list', file], undefined, signal);
      if (/ TABLE (DATA )?\S+ task /.test(list)) return program;
      refusal = 'is not a backup of Parley';
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      refusal = error.message;
    }
  }
  throw new CommandError(`${file}: ${refusal}`);
}

/**
 * Refuses a database that has tables, or on which a service is starting, and locks the database. The lock belongs to
 * this database session: until the session ends, no service creates tables in the database.
 */
async function refuseOccupied(database: ServiceDatabase): Promise<void> {
  if (!(await tryMigrationLock(database.client)))
    throw new CommandError('A service is starting on this database: stop it first.', EXIT.failed);
  const found = await countTables(database);
  if (found === 0) return;
  throw new CommandError(
    `The database is not empty (${found} tables), and nothing was changed. Create an empty one and name it in DATABASE_URL; ` +
      'without that, name a new folder in DATA_DIR.',
    EXIT.failed,
  );
}

/** Counts the tables of a database, without those of extensions, which a server may create in every new database. */
async function countTables({ client }: ServiceDatabase): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND nspname !~ '^pg_' AND nspname <> 'information_schema' AND NOT EXISTS (
       SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')`,
  );
  return rows[0]!.n;
}

function restoreAdvice(unreadable: number): string {
  const keys =
    unreadable > 0
      ? `No known key decrypts ${unreadable} secrets: set the CREDENTIALS_KEY that encrypted them, or replace them.\n`
      : '';
  return (
    `${keys}A service that starts on it resumes the runs that were active at the time of the backup, and calls agents: ` +
    'do not start one while the original service runs.'
  );
}
