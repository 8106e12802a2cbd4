import type { Command } from 'commander';
import { runEntry } from '../entry.js';
import { exampleText } from '../examples.js';
import type { Session } from '../session.js';

const SETTINGS = `
Settings that most people need (docs/VARIABLES.md has all of them):
  PORT, HOST                where it listens; 3000 and 127.0.0.1
  DATABASE_URL              a PostgreSQL 15 or newer; otherwise one of its own is kept under DATA_DIR (./.data)
  AUTH_MODE, AUTH_API_KEYS  who may call: none (this machine only), api-key with name:key,..., or jwt
  PUBLIC_URL                the address that agent cards tell
  LLM_BASE_URL, LLM_API_KEY, LLM_MODEL
                            an OpenAI-compatible model; otherwise agent nodes repeat what they are told`;

/** Adds `start` and `startDevService`: the service itself. */
export function addServiceCommands(program: Command, session: Session): void {
  program
    .command('dev')
    .description('start a service with a database of its own, and apply the workflows of a folder whenever they change')
    .option('-f, --folder <folder>', 'the folder of the workflows', 'workflows')
    .option('-p, --port <port>', 'where it listens, on this machine; otherwise PORT, or 3000')
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
