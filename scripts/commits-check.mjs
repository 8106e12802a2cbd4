/**
 * Applies commitlint.config.mjs to the commits since `subjectsSince` in scripts/house/recorded.json. Exits 1 when one
 * breaks a rule; says that it skipped where that commit is not known, as in a shallow clone.
 */
import { spawnSync } from 'node:child_process';
import { recorded } from './house/ratchet.mjs';
import { ROOT, tool } from './prepare.mjs';

const { subjectsSince } = recorded();
const known = spawnSync('git', ['merge-base', '--is-ancestor', subjectsSince, 'HEAD'], { cwd: ROOT });
if (known.status !== 0) {
  console.log(`Skipped: ${subjectsSince} is no commit before HEAD here`);
  process.exit(0);
}
const command = [tool('@commitlint/cli/cli.js'), '--from', subjectsSince, '--to', 'HEAD'];
process.exit(spawnSync(process.execPath, command, { cwd: ROOT, stdio: 'inherit' }).status ?? 1);
