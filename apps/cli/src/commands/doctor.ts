import type { Command } from 'commander';
import { exampleText } from '../examples.js';
import type { Session } from '../session.js';

/** Adds `examineEnvironment`: checks the requirements of a service. */
export function addDoctor(program: Command, session: Session): void {
  program
    .command('doctor')
    .description(
      'look at what a service needs: Node, ports, the database and how many sessions it has, clocks, the service itself',
    )
    .addHelpText(
      'after',
      exampleText('parley doctor', 'DATABASE_URL=postgres://parley@db.internal/parley parley doctor --json'),
    )
    .action(async () => (await import('../doctor.js')).examineEnvironment(session));
}
