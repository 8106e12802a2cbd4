/**
 * `npm run check`: every check, each with its time, and the output of those that fail. Exits 1 when one does.
 * With names as arguments (`node scripts/check.mjs lint types`) only those, with their output; with `--without-tests` all
 * but the unit tests, for who runs `npm test` as well.
 */
import { spawnSync } from 'node:child_process';
import { ROOT, ensureInstalled } from './prepare.mjs';
import { CHECKS } from './checks.mjs';

const withoutTests = process.argv.includes('--without-tests');
const chosen = process.argv.slice(2).filter((argument) => argument !== '--without-tests');
const names = (chosen.length > 0 ? chosen : Object.keys(CHECKS)).filter(
  (name) => !withoutTests || name !== 'unit tests',
);
const unknown = names.filter((name) => !(name in CHECKS));
if (unknown.length > 0) {
  console.error(`Unknown check: ${unknown.join(', ')}. There are: ${Object.keys(CHECKS).join(', ')}.`);
  process.exit(2);
}

ensureInstalled();
const failed = names.filter((name) => !passes(name));
console.log(failed.length > 0 ? `\nFailed: ${failed.join(', ')}` : '\nAll checks passed');
process.exit(failed.length > 0 ? 1 : 0);

function passes(name) {
  const started = Date.now();
  const [command, ...args] = CHECKS[name]();
  const outcome = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const passed = outcome.status === 0;
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`${passed ? '✓' : '✗'} ${name.padEnd(14)} ${seconds.padStart(5)} s`);
  if (!passed) console.log(`${outcome.stdout}${outcome.stderr}${outcome.error?.message ?? ''}`.trimEnd());
  return passed;
}
