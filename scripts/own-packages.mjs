import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNpm, say } from './prepare.mjs';

/**
 * Makes the node_modules of a folder with a lock of its own match that lock: what only its tests need lies there, so that
 * none of it comes near the product's dependencies.
 * @param {string} folder
 * @param {string} whose as the person who waits is told
 * @param {number} [limit] milliseconds until it is given up
 * @returns {string | undefined} why it could not be done
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

/** The same, or the end of this process. */
export function ensureOwnPackages(folder, whose) {
  const failure = installOwnPackages(folder, whose);
  if (failure === undefined) return;
  say(`Installing ${whose} failed.\n${failure}`);
  process.exit(1);
}
