/**
 * Runs a compiled entry point under the pinned Node, after installing and building what is missing:
 * `node scripts/run.mjs src/main …`. Signals reach the process, and its exit code becomes this one's. With
 * `--interactive` first, it also gets the terminal's input.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { onEnding, WATCHED } from './ending.mjs';
import { NODE_ENVIRONMENT, NODE_FLAGS, ROOT, ensureBuilt, ensureInstalled, pinnedNode, say } from './prepare.mjs';

const interactive = process.argv[2] === '--interactive';
const [entry, ...args] = process.argv.slice(interactive ? 3 : 2);
ensureInstalled();
ensureBuilt();

// In a group of its own, the child gets each signal once: from here, not from the terminal as well. Only the terminal's
// own group may read from it.
const child = spawn(pinnedNode(), [...NODE_FLAGS, join(ROOT, 'dist', `${entry}.js`), ...args], {
  // What one start compiles, no other compiles again.
  env: { NODE_COMPILE_CACHE: join(ROOT, 'dist', 'compiled'), ...NODE_ENVIRONMENT, ...process.env, ...WATCHED },
  stdio: [interactive ? 'inherit' : 'ignore', 'inherit', 'inherit', 'pipe'],
  detached: !interactive && process.platform !== 'win32',
});
// A service whose npm was killed ends as one whose starter was killed: it watches the pipe.
onEnding(
  (signal) => child.kill(signal),
  () => child.stdio[3].destroy(),
);
child.on('error', (error) => {
  say(`The process could not be started: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
