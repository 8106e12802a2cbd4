import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError, EXIT } from './exit-code.js';
import { runProgram } from './postgres-programs.js';
import { sealedSecrets, type SealedSecrets, type ServiceDatabase, withServiceDatabase } from './service-database.js';
import type { Session } from './session.js';

interface BackupOptions {
  withoutKeys?: boolean;
}

/**
 * Flag of pg_dump that leaves out the keys in the table `service_secret`, in any schema. pg_dump ignores a table that
 * it does not find, without a message.
 */
const KEYS_LEFT_OUT = '--exclude-table-data=*.service_secret';

/**
 * Writes a consistent snapshot of the database into a file that only this user can read. The service may keep running.
 * - An existing file is not replaced.
 * - An incomplete file never has the final name.
 * @throws CommandError for an existing file, and for a database without a service
 */
export async function writeBackup(session: Session, name: string | undefined, options: BackupOptions): Promise<void> {
  const { terminal, signal } = session;
  const file = resolve(name ?? `parley-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}Z.dump`);
  refuseExisting(file);
  const written = await withServiceDatabase(session, { program: 'pg_dump', mayBeNew: false }, async (database) => {
    if (!(await isService(database))) throw new CommandError('There is no service in this database yet.', EXIT.failed);
    const secrets = await sealedSecrets(database);
    const part = reserveFile(file);
    try {
      terminal.writeNote(`Writing ${file} …`);
      const flags = ['--format=custom', '--no-owner', '--no-privileges', `--file=${part}`];
      const left = options.withoutKeys ? [KEYS_LEFT_OUT] : [];
      await runProgram(database.program, [...flags, ...left], database.url, signal);
      refuseExisting(file);
      renameSync(part, file);
    } finally {
      rmSync(part, { force: true });
    }
    return { file, bytes: statSync(file).size, postgres: database.version, secrets };
  });
  terminal.writeResult(written, () => `${file} has the backup (${written.bytes} bytes).`);
  terminal.writeNote(backupAdvice(written.secrets, options));
}

async function isService({ client }: ServiceDatabase): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>(`SELECT to_regclass('task') IS NOT NULL AS there`);
  return rows[0]!.there;
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw new CommandError(`${file} already exists; name another file.`);
}

/**
 * Creates an empty file beside the final one, readable by this user only.
 * @throws CommandError if it exists or cannot be created
 */
function reserveFile(file: string): string {
  const part = `${file}.part`;
  try {
    closeSync(openSync(part, 'wx', 0o600));
    return part;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new CommandError(message);
    throw new CommandError(`${part} exists: another backup is writing it, or left it behind when it was killed.`);
  }
}

function backupAdvice({ withKey, withDatabase, unreadable }: SealedSecrets, { withoutKeys }: BackupOptions): string {
  const lines = [];
  if (withKey > 0) lines.push(`CREDENTIALS_KEY decrypts ${withKey} of its secrets: keep that key in another place.`);
  if (withDatabase > 0)
    lines.push(
      withoutKeys
        ? `${withDatabase} of its secrets cannot be decrypted: the backup does not contain their key.`
        : `It contains the key of ${withDatabase} of its secrets. With CREDENTIALS_KEY they would be encrypted with that key.`,
    );
  if (unreadable > 0) lines.push(`No known key decrypts ${unreadable} of its secrets.`);
  if (!withoutKeys) lines.push('It contains the keys that the service generated: protect it like a secret.');
  return lines.join('\n');
}
