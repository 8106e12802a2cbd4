import { parley } from './parley.js';
import { Terminal } from './terminal.js';

/** Settles once the command has; whoever loads the program waits for that. */
export const begun = begin();

async function begin(): Promise<void> {
  process.exitCode = await parley(process.argv.slice(2), Terminal.ofProcess());
}
