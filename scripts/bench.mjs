/**
 * `npm run bench`: installs and builds what is missing, also the benchmark's own packages, and runs it under the pinned
 * Node. Arguments go to test/bench/run.ts; a wrong one prints what there is.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { onEnding } from './ending.mjs';
import { ROOT, ensureBuilt, ensureInstalled, pinnedNode, say } from './prepare.mjs';

const BENCH = join(ROOT, 'test', 'bench');
const LOCK = join(BENCH, 'package-lock.json');
const STAMP = join(BENCH, 'node_modules', '.bench-stamp');

ensureInstalled();
ensureBuilt();
ensurePeers();

// In a group of its own, the child gets each signal once: from here, not from the terminal as well.
const child = spawn(pinnedNode(), ['--disable-warning=ExperimentalWarning', 'run.ts', ...process.argv.slice(2)], {
  cwd: BENCH,
  stdio: ['ignore', 'inherit', 'inherit'],
  detached: process.platform !== 'win32',
});
onEnding((signal) => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));

/** The peers lie in test/bench/node_modules, so that none of them comes near the product's dependencies. */
function ensurePeers() {
  const wanted = readFileSync(LOCK, 'utf8');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return;
  say("Installing the benchmark's own packages (only the first time; about a minute) …");
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const options = { cwd: BENCH, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] };
  const outcome = npm?.endsWith('.js')
    ? spawnSync(process.env.npm_node_execpath ?? process.execPath, [npm, ...args], options)
    : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
  if (outcome.status !== 0) {
    say(`Installing the benchmark's packages failed.\n${outcome.stdout ?? ''}${outcome.stderr ?? outcome.error}`);
    process.exit(1);
  }
  writeFileSync(STAMP, wanted);
}
