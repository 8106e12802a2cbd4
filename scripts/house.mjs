/**
 * `npm run house`: the measures of the house, each with its value, the recorded one and the target. Exits 1 when one is
 * worse than its target or than what is recorded.
 * - `-- --runtime` also counts the files that a SendMessage and a run execute, in the built service with its database.
 * - `-- --record` writes down the values that got better (scripts/house/recorded.json).
 * - `-- --accept=shippedLines,…` also writes down measures that got worse for a reason, by their ids.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT, ensureBuilt, ensureInstalled, pinnedNode } from './prepare.mjs';

const options = process.argv.slice(2);
ensureInstalled();
if (options.includes('--runtime')) ensureBuilt();
const report = [join(ROOT, 'scripts', 'house', 'report.mjs'), ...options];
process.exit(spawnSync(pinnedNode(), report, { cwd: ROOT, stdio: 'inherit' }).status ?? 1);
