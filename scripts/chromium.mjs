/**
 * The browser that the console's tests and screenshots drive: Debian's Chromium, installed when it is missing and this
 * process may; the one without windows of its own, which takes a third less of the processor, where there is a choice.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { say } from './prepare.mjs';

const PLACES = [
  '/usr/bin/chromium-headless-shell',
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
  const install = (name) => runs('apt-get', ['install', '-y', '--no-install-recommends', name]);
  // Older systems have the whole browser only.
  if (runs('apt-get', ['update']) && !install('chromium-headless-shell')) install('chromium');
  const path = PLACES.find((place) => existsSync(place));
  return path ? { path } : { reason: 'no Chromium here, and apt-get could not install it' };
}

function runs(command, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { stdio: 'ignore', env }).status === 0;
}
