/**
 * The browser that the console's tests and screenshots drive: Debian's Chromium, installed when it is missing and this
 * process may: the one without windows of its own, which takes a third less of the processor, also beside a whole one.
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
/** Written where there is another one and this one cannot be had, so that it is not asked for each time. */
const NOT_TO_BE_HAD = join(ROOT, 'node_modules', '.cache', 'no-headless-shell');
/** Where there is no way to Debian, that shows at once. */
const SHORTLY = ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=10', '-o', 'Acquire::https::Timeout=10'];

/** `{path}` of a browser, or `{reason}` why there is none. `PARLEY_TEST_BROWSER` names another one. */
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

/** Older systems have the whole browser only: it is installed where there is none. */
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
