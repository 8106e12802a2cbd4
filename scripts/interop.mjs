/**
 * `npm run interop`: installs and builds what is missing, also the packages of the frameworks, then lets agents that they
 * serve and call and Parley call each other (test/interop). Ends with "N passed, N failed", and with 0 only if none did.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { onEnding } from './ending.mjs';
import { ensureOwnPackages } from './own-packages.mjs';
import { ROOT, ensureBuilt, ensureInstalled, pinnedNode } from './prepare.mjs';

const INTEROP = join(ROOT, 'test', 'interop');

ensureInstalled();
ensureBuilt();
ensureOwnPackages(INTEROP, 'the frameworks');
const hooks = join(ROOT, 'test', 'support', 'typescript-hooks.mjs');
// In a group of its own, the child gets each signal once: from here, not from the terminal as well.
const args = ['--import', hooks, join(INTEROP, 'run.ts'), ...process.argv.slice(2)];
const child = spawn(pinnedNode(), args, {
  cwd: ROOT,
  env: { ...process.env, PARLEY_TEST_MAIN: join(ROOT, 'dist', 'src', 'main.js') },
  stdio: ['ignore', 'inherit', 'inherit'],
  detached: process.platform !== 'win32',
});
onEnding((signal) => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
