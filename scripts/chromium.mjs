/**
 * The browser that the console's tests and screenshots drive: Debian's Chromium, installed when it is missing and this
 * process may.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { say } from './prepare.mjs';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];

/** `{path}` of a browser, or `{reason}` why there is none. `PARLEY_TEST_BROWSER` names another one. */
export function ensureChromium() {
  const found = [process.env.PARLEY_TEST_BROWSER, ...PLACES].find((path) => path && existsSync(path));
  if (found) return { path: found };
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !runs('apt-get', ['--version'])) {
    return { reason: 'no Chromium here, and it cannot be installed: set PARLEY_TEST_BROWSER to one' };
  }
  say('Installing Chromium for the tests of the console (only the first time) …');
  const installed =
    runs('apt-get', ['update']) && runs('apt-get', ['install', '-y', '--no-install-recommends', 'chromium']);
  return installed && existsSync(PLACES[0])
    ? { path: PLACES[0] }
    : { reason: 'no Chromium here, and apt-get could not install it' };
}

function runs(command, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { stdio: 'ignore', env }).status === 0;
}
