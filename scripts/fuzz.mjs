/**
 * Runs `npm run fuzz -- --cases N [--seed S]`: installs and builds what is missing, then sends N broken requests to
 * separate services, one for each AUTH_MODE (test/fuzz). Exits with 0 only if no answer was an internal error, no
 * answer was missing, and no service stalled.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { onEnding } from './ending.mjs';
import { ROOT, ensureBuilt, ensureInstalled, pinnedNode } from './prepare.mjs';

ensureInstalled();
ensureBuilt();
const hooks = join(ROOT, 'test', 'support', 'typescript-hooks.mjs');
const main = join(ROOT, 'test', 'fuzz', 'fuzz.ts');
// In a group of its own, the child gets each signal once: from here, not from the terminal as well.
const child = spawn(pinnedNode(), ['--import', hooks, main, ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: ['ignore', 'inherit', 'inherit'],
  detached: process.platform !== 'win32',
});
onEnding((signal) => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
