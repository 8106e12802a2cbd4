/**
 * Runs the benchmark (`npm run bench`): installs and builds what is missing, including the benchmark's own packages,
 * and runs test/bench/run.ts with the given arguments under the pinned Node. A wrong argument prints the possible ones.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { onEnding } from './ending.mjs';
import { ensureOwnPackages } from './own-packages.mjs';
import { ROOT, ensureBuilt, ensureInstalled, pinnedNode } from './prepare.mjs';

const BENCH = join(ROOT, 'test', 'bench');

ensureInstalled();
ensureBuilt();
ensureOwnPackages(BENCH, "the benchmark's own packages");

// In a group of its own, the child gets each signal once: from here, not from the terminal as well.
const child = spawn(pinnedNode(), ['--disable-warning=ExperimentalWarning', 'run.ts', ...process.argv.slice(2)], {
  cwd: BENCH,
  stdio: ['ignore', 'inherit', 'inherit'],
  detached: process.platform !== 'win32',
});
onEnding((signal) => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
