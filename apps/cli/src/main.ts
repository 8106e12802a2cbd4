import { runCommand } from './parley.js';
import { Terminal } from './terminal.js';

/**
 * Promise that settles once the command has ended. The launcher of the package (scripts/bundle-scripts.mjs) awaits it.
 */
export const begun = runProgramMain();

async function runProgramMain(): Promise<void> {
  // Only npm starts the command through a script, so the watch of the parent process is loaded only then.
  if (process.env['PARLEY_PARENT_PIPE'] !== undefined) {
    const { endWithParent } = await import('#libs/service');
    endWithParent();
  }
  process.exitCode = await runCommand(process.argv.slice(2), Terminal.ofProcess());
}
