import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNpm, say } from './prepare.mjs';

/**
 * Makes the node_modules of a folder match the folder's own lock. Packages that only its tests need are installed
 * there, apart from the product's dependencies.
 * @param {string} folder
 * @param {string} whose description of the packages, for the person who waits
 * @param {number} [limit] milliseconds after which the installation is aborted
 * @returns {string | undefined} reason of a failure
 */
export function installOwnPackages(folder, whose, limit) {
  const stamp = join(folder, 'node_modules', '.own-stamp');
  const wanted = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return undefined;
  say(`Installing ${whose} (only the first time; about a minute) …`);
  const outcome = runNpm(['ci', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'], folder, limit);
  if (outcome.status !== 0)
    return `${outcome.stdout ?? ''}${outcome.stderr ?? ''}${outcome.error?.message ?? ''}`.trim();
  writeFileSync(stamp, wanted);
  return undefined;
}

/** Installs packages as `installOwnPackages` does. If that fails, prints the reason and exits with 1. */
export function ensureOwnPackages(folder, whose) {
  const failure = installOwnPackages(folder, whose);
  if (failure === undefined) return;
  say(`Installing ${whose} failed.\n${failure}`);
  process.exit(1);
}
