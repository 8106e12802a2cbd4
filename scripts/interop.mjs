/**
 * `npm run interop`: installs and builds what is missing, also the packages of the frameworks, then lets agents that they
 * serve and call and Parley call each other (test/interop). Ends with "N passed, N failed", and with 0 only if none did.
 * In CI it is skipped, with the reason, where the frameworks cannot be installed: a registry that is away breaks no change.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { onEnding } from './ending.mjs';
import { installOwnPackages } from './own-packages.mjs';
import { ROOT, ensureBuilt, ensureInstalled, pinnedNode, say } from './prepare.mjs';

const INTEROP = join(ROOT, 'test', 'interop');
/** In CI: where a registry answers at all, it takes a fraction of that. */
const LONGEST_INSTALL_MS = 90_000;
/** None of them asks a network for anything, or tells more than what goes wrong. */
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
onEnding((signal) => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
