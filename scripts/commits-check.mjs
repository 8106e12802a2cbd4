/**
 * Applies commitlint.config.mjs to the commits since `subjectsSince` in scripts/house/recorded.json. Exits with 1 if a
 * commit breaks a rule. Skips the check, with a message, if that commit is unknown, as in a shallow clone.
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
