import { parley } from './parley.js';
import { Terminal } from './terminal.js';

process.exitCode = await parley(process.argv.slice(2), Terminal.ofProcess());
