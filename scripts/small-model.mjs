/**
 * Runs `npm run small-model`: installs and builds what is missing, and installs a small language model with a server
 * for it in a temporary folder. Then three agents hold a brainstorm with that model, and two a conversation
 * (test/small-model). Needs Python 3.
 * Prints "N passed, N failed", and exits with 0 only if none failed.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { onEnding } from './ending.mjs';
import { ROOT, ensureBuilt, ensureInstalled, pinnedNode } from './prepare.mjs';

ensureInstalled();
ensureBuilt();
const hooks = join(ROOT, 'test', 'support', 'typescript-hooks.mjs');
const main = join(ROOT, 'test', 'small-model', 'small-model.ts');
// In a group of its own, the child gets each signal once: from here, not from the terminal as well.
const child = spawn(pinnedNode(), ['--import', hooks, main, ...process.argv.slice(2)], {
  cwd: ROOT,
  env: { ...process.env, PARLEY_TEST_MAIN: join(ROOT, 'dist', 'src', 'main.js') },
  stdio: ['ignore', 'inherit', 'inherit'],
  detached: process.platform !== 'win32',
});
onEnding((signal) => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
