import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNpm, say } from './prepare.mjs';

/**
 * Makes the node_modules of a folder with a lock of its own match that lock: what only its tests need lies there, so that
 * none of it comes near the product's dependencies.
 * @param {string} folder
 * @param {string} whose as the person who waits is told
 */
export function ensureOwnPackages(folder, whose) {
  const stamp = join(folder, 'node_modules', '.own-stamp');
  const wanted = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  say(`Installing ${whose} (only the first time; about a minute) …`);
  const outcome = runNpm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], folder);
  if (outcome.status !== 0) {
    say(`Installing ${whose} failed.\n${outcome.stdout ?? ''}${outcome.stderr ?? outcome.error}`);
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}
