import type { Command } from 'commander';
import { runEntry } from '../entry.js';
import { exampleText } from '../examples.js';
import type { Session } from '../session.js';

const SETTINGS = `
Common settings (all are in docs/VARIABLES.md):
  PORT, HOST                address to listen at; default 3000 and 127.0.0.1
  DATABASE_URL              a PostgreSQL 15 or newer; default: an embedded one under DATA_DIR (./.data)
  AUTH_MODE, AUTH_API_KEYS  access: none (this machine only), api-key with name:key,..., or jwt
  PUBLIC_URL                address in agent cards
  LLM_BASE_URL, LLM_API_KEY, LLM_MODEL
                            an OpenAI-compatible model; without one, agent nodes repeat their input`;

/** Adds the commands `start` and `dev`, which run the service itself. */
export function addServiceCommands(program: Command, session: Session): void {
  program
    .command('dev')
    .description('start a service with an embedded database, and apply the workflows of a folder whenever they change')
    .option('-f, --folder <folder>', 'the folder of the workflows', 'workflows')
    .option('-p, --port <port>', 'port to listen at, on this machine; default PORT, or 3000')
    .addHelpText('after', exampleText('parley dev', 'parley dev -f flows --port 3001'))
    .action(async (options: { folder: string; port?: string }) =>
      (await import('../dev.js')).startDevService(session, options),
    );
  program
    .command('start')
    .description('start the service; its settings come from the environment')
    .addHelpText('after', SETTINGS)
    .addHelpText('after', exampleText('PORT=8080 DATABASE_URL=postgres://parley@db.internal/parley parley start'))
    .action(() => runEntry('src/main', [], session));
}

/** Adds the command `doctor`, which checks the requirements of a service. */
export function addDoctor(program: Command, session: Session): void {
  program
    .command('doctor')
    .description(
      'check the requirements of a service: Node, ports, the database and its sessions, clocks, the service itself',
    )
    .addHelpText(
      'after',
      exampleText('parley doctor', 'DATABASE_URL=postgres://parley@db.internal/parley parley doctor --json'),
    )
    .action(async () => (await import('../doctor.js')).examineEnvironment(session));
}

/** Adds the commands `backup` and `restore`, which use PostgreSQL's own programs. */
export function addBackupCommands(program: Command, session: Session): void {
  program
    .command('backup')
    .argument('[file]', 'file to write; default: a name with the current time')
    .description('back up the database into a file, with pg_dump; the service may keep running')
    .option('--without-keys', 'leave out the keys that the service generated; secrets encrypted with them are lost')
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
    .description('restore a backup into an empty database, with pg_restore; all or nothing')
    .addHelpText(
      'after',
      '\nThe database is that of DATABASE_URL, else the one under DATA_DIR.\n\nExample:\n  DATABASE_URL=postgres://… parley restore monday.dump',
    )
    .action(async (file: string) => (await import('../restore.js')).restoreBackup(session, file));
}
