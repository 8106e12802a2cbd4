import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError, EXIT } from './exit-code.js';
import { runProgram } from './postgres-programs.js';
import { sealedSecrets, type SealedSecrets, type ServiceDatabase, withServiceDatabase } from './service-database.js';
import type { Session } from './session.js';

interface BackupOptions {
  withoutKeys?: boolean;
}

/** Flag for any schema: pg_dump ignores a table that it does not find, without a message. */
const KEYS_LEFT_OUT = '--exclude-table-data=*.service_secret';

/**
 * Writes a consistent snapshot of the database into a file that only this user can read. The service may keep running.
 * - An existing file is not replaced.
 * - An incomplete file never has the final name.
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
  if (existsSync(file)) throw new CommandError(`${file} is there already; name another file.`);
}

/** Creates an empty file of this user beside the final one. */
function reserveFile(file: string): string {
  const part = `${file}.part`;
  try {
    closeSync(openSync(part, 'wx', 0o600));
    return part;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new CommandError(message);
    throw new CommandError(`${part} is there: another backup writes it, or left it behind when it was killed.`);
  }
}

function backupAdvice({ withKey, withDatabase, unreadable }: SealedSecrets, { withoutKeys }: BackupOptions): string {
  const lines = [];
  if (withKey > 0)
    lines.push(`CREDENTIALS_KEY opens ${withKey} of the secrets in it: keep that key, in another place.`);
  if (withDatabase > 0)
    lines.push(
      withoutKeys
        ? `Nothing opens ${withDatabase} of the secrets in it: the key was left out.`
        : `The key of ${withDatabase} of its secrets is in it as well; with CREDENTIALS_KEY they would be sealed with that.`,
    );
  if (unreadable > 0) lines.push(`No key that is known here opens ${unreadable} of the secrets in it.`);
  if (!withoutKeys) lines.push('The keys that the service made for itself are in it: keep it as you keep secrets.');
  return lines.join('\n');
}
