/**
 * Provides the browser for the console's tests and screenshots: Debian's headless Chromium, which is installed if it is
 * missing and this process may install packages. It uses a third less processor time than the full browser, even if
 * that is installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT, say } from './prepare.mjs';

const WITHOUT_WINDOWS = '/usr/bin/chromium-headless-shell';
const PLACES = [
  WITHOUT_WINDOWS,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];
/**
 * Marker file: the headless browser could not be installed, and another browser is used, so that the installation is
 * not tried again.
 */
const NOT_TO_BE_HAD = join(ROOT, 'node_modules', '.cache', 'no-headless-shell');
/** Options of apt-get by which an unreachable mirror fails quickly. */
const SHORTLY = ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=10', '-o', 'Acquire::https::Timeout=10'];

/** Returns the `{path}` of a browser, or the `{reason}` why there is none. `PARLEY_TEST_BROWSER` overrides the path. */
export function ensureChromium() {
  const found = [process.env.PARLEY_TEST_BROWSER, ...PLACES].find((path) => path && existsSync(path));
  const best = found === process.env.PARLEY_TEST_BROWSER || found === WITHOUT_WINDOWS || existsSync(NOT_TO_BE_HAD);
  if (found && best) return { path: found };
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !runs('apt-get', ['--version'])) {
    return found
      ? { path: found }
      : { reason: 'no Chromium here, and it cannot be installed: set PARLEY_TEST_BROWSER to one' };
  }
  say('Installing Chromium for the tests of the console (only the first time) …');
  install(found !== undefined);
  const path = PLACES.find((place) => existsSync(place));
  if (path && path !== WITHOUT_WINDOWS) noteNotToBeHad();
  return path ? { path } : { reason: 'no Chromium here, and apt-get could not install it' };
}

/**
 * Installs the headless browser. Older systems do not have it: there the full browser is installed if no browser
 * exists.
 */
function install(isThereAnother) {
  const installed = (name) => runs('apt-get', ['install', '-y', '--no-install-recommends', ...SHORTLY, name]);
  if (!runs('apt-get', ['update', ...SHORTLY]) || installed('chromium-headless-shell')) return;
  if (!isThereAnother) installed('chromium');
}

function noteNotToBeHad() {
  mkdirSync(dirname(NOT_TO_BE_HAD), { recursive: true });
  writeFileSync(NOT_TO_BE_HAD, '');
}

function runs(command, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { stdio: 'ignore', env }).status === 0;
}
