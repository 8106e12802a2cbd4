/**
 * Prints the quality measures of the repository (`npm run house`), each with its value, the recorded value and the
 * target. Exits with 1 if a value is worse than its target or than the recorded one.
 * - `-- --runtime` also counts the files that a SendMessage and a run execute, in the built service with its
 *   database.
 * - `-- --record` records the values that have improved (scripts/house/recorded.json).
 * - `-- --accept=shippedLines,…` also records measures that got worse for a reason, by their ids.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT, ensureBuilt, ensureInstalled, pinnedNode } from './prepare.mjs';

const options = process.argv.slice(2);
ensureInstalled();
if (options.includes('--runtime')) ensureBuilt();
const report = [join(ROOT, 'scripts', 'house', 'report.mjs'), ...options];
process.exit(spawnSync(pinnedNode(), report, { cwd: ROOT, stdio: 'inherit' }).status ?? 1);
