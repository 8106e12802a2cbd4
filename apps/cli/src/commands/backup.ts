import type { Command } from 'commander';
import type { Session } from '../session.js';

/** Adds `writeBackup` and `restoreBackup`, which use PostgreSQL's own programs. */
export function addBackupCommands(program: Command, session: Session): void {
  program
    .command('backup')
    .argument('[file]', 'where it goes; otherwise one is named by the time')
    .description('write all that the database keeps into a file, with pg_dump; the service may go on meanwhile')
    .option(
      '--without-keys',
      'leave out the keys that the service made for itself: what they sealed cannot be opened again',
    )
    .addHelpText(
      'after',
      '\nThe database is that of DATABASE_URL, else the one under DATA_DIR. What was uploaded lies beside it, in DATA_DIR/files\nor on the S3 server: back that up as well.\n\nExamples:\n  parley backup\n  DATABASE_URL=postgres://… parley backup monday.dump',
    )
    .action(async (file: string | undefined, options: { withoutKeys?: boolean }) =>
      (await import('../backup.js')).writeBackup(session, file, options),
    );
  program
    .command('restore')
    .argument('<file>', 'a backup')
    .description('fill an empty database from a backup, with pg_restore: all of it or nothing')
    .addHelpText(
      'after',
      '\nThe database is that of DATABASE_URL, else the one under DATA_DIR.\n\nExample:\n  DATABASE_URL=postgres://… parley restore monday.dump',
    )
    .action(async (file: string) => (await import('../restore.js')).restoreBackup(session, file));
}
