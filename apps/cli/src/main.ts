import { parley } from './parley.js';
import { Terminal } from './terminal.js';

/** Settles once the command has; whoever loads the program waits for that. */
export const begun = begin();

async function begin(): Promise<void> {
  // Under npm a script starts the command; nobody else pays for loading what watches it.
  if (process.env['PARLEY_PARENT_PIPE'] !== undefined) {
    const { endWithParent } = await import('#libs/service');
    endWithParent();
  }
  process.exitCode = await parley(process.argv.slice(2), Terminal.ofProcess());
}
