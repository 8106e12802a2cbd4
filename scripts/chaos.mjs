/**
 * Runs `npm run chaos -- --minutes N [--seed S]`: installs and builds what is missing, breaks a cluster for N minutes,
 * and checks the result (test/cluster/chaos). Exits with 0 only if every promise was kept, with 3 if this machine
 * cannot do what was requested. No started process outlives this one.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { onEnding } from './ending.mjs';
import { ROOT, ensureBuilt, ensureInstalled, pinnedNode } from './prepare.mjs';

ensureInstalled();
ensureBuilt();
const hooks = join(ROOT, 'test', 'support', 'typescript-hooks.mjs');
const main = join(ROOT, 'test', 'cluster', 'chaos', 'chaos.ts');
const ownGroup = process.platform !== 'win32';
// In a group of its own, the child gets each signal once: from here, not from the terminal as well. It ends when its
// standard input does.
const child = spawn(pinnedNode(), ['--import', hooks, main, ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: ['pipe', 'inherit', 'inherit'],
  detached: ownGroup,
});
onEnding((signal) => child.kill(signal));
child.on('exit', (code, signal) => {
  endGroup();
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});

/** Ends the processes that a killed child could not end. */
function endGroup() {
  try {
    if (ownGroup && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nobody is left.
  }
}
