/**
 * Runs `npm run interop`: installs and builds what is missing, including the packages of other agent frameworks, then
 * makes their agents and Parley call each other (test/interop). Prints "N passed, N failed", and exits with 0 only if
 * none failed.
 * In CI the tests are skipped, with the reason, if the frameworks cannot be installed, so that an unreachable registry
 * fails no change.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onEnding } from './ending.mjs';
import { installOwnPackages } from './own-packages.mjs';
import { ROOT, ensureBuilt, ensureInstalled, pinnedNode, say } from './prepare.mjs';

const INTEROP = join(ROOT, 'test', 'interop');
/** Maximum milliseconds of the installation in CI: if a registry answers at all, it takes a fraction of that time. */
const LONGEST_INSTALL_MS = 90_000;
/** Maximum milliseconds for services to end by themselves after the tests have ended. */
const LONGEST_END_MS = 10_000;
/** Environment of the frameworks: they make no network requests of their own, and log only errors. */
const FRAMEWORKS = { MASTRA_OFFLINE: 'true', MASTRA_AUTO_REFRESH_PROVIDERS: 'false', VOLTAGENT_LOG_LEVEL: 'fatal' };
const inCi = process.env.CI !== undefined;

ensureInstalled();
ensureBuilt();
const failure = installOwnPackages(INTEROP, 'the frameworks', inCi ? LONGEST_INSTALL_MS : undefined);
if (failure !== undefined) {
  say(`Installing the frameworks failed.\n${failure}`);
  if (inCi) say('npm run interop is skipped: its packages cannot be installed here.');
  process.exit(inCi ? 0 : 1);
}
const hooks = join(ROOT, 'test', 'support', 'typescript-hooks.mjs');
// In a group of its own, the child gets each signal once: from here, not from the terminal as well.
const args = ['--import', hooks, join(INTEROP, 'run.ts'), ...process.argv.slice(2)];
const child = spawn(pinnedNode(), args, {
  cwd: ROOT,
  env: { ...process.env, ...FRAMEWORKS, PARLEY_TEST_MAIN: join(ROOT, 'dist', 'src', 'main.js') },
  stdio: ['ignore', 'inherit', 'inherit'],
  detached: process.platform !== 'win32',
});
onEnding((signal) => signalGroup(signal));
child.on('exit', (code, signal) => {
  void endGroup().then(() => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
});

/** Ends what the tests have left running: services, agents and clients are in the group of the child. */
async function endGroup() {
  const begun = performance.now();
  while (signalGroup(0) && performance.now() - begun < LONGEST_END_MS) await delay(50);
  signalGroup('SIGKILL');
}

/** Sends a signal to the group of the child; 0 only asks for it. @returns true if the group has a process */
function signalGroup(signal) {
  try {
    return process.kill(process.platform === 'win32' ? Number(child.pid) : -Number(child.pid), signal);
  } catch {
    return false;
  }
}
