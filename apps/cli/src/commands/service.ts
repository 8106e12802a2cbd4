import type { Command } from 'commander';
import { runEntry } from '../entry.js';
import type { Session } from '../session.js';

/** `start` and `dev`: the service itself. */
export function addServiceCommands(program: Command, session: Session): void {
  program
    .command('dev')
    .description('start a service with a database of its own, and apply the workflows of a folder whenever they change')
    .option('-f, --folder <folder>', 'the folder of the workflows', 'workflows')
    .option('-p, --port <port>', 'where it listens, on this machine; otherwise PORT, or 3000')
    .action(async (options: { folder: string; port?: string }) => (await import('../dev.js')).dev(session, options));
  program
    .command('start')
    .description('start the service; its settings come from the environment')
    .action(() => runEntry('src/main', [], session));
}
