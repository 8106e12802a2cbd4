import type { Command } from 'commander';
import { exampleText } from '../examples.js';
import type { Session } from '../session.js';

/** Adds the command `types`, which prints TypeScript types of workflows for the typed client. */
export function addTypes(program: Command, session: Session): void {
  program
    .command('types')
    .description('print the inputs and outputs of workflows as TypeScript, for the typed client')
    .option('-f, --folder <folder>', 'workflows of this folder; default: those of the service')
    .addHelpText(
      'after',
      exampleText('parley types > src/workflows.ts', 'parley types -f workflows > src/workflows.ts'),
    )
    .action(async (options: { folder?: string }) => (await import('../print-types.js')).printTypes(session, options));
}
