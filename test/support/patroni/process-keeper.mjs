// Runs programs in a folder as some user, for a parent that says over IPC which. When the parent has enough of it,
// everything that runs in the folder is killed, whoever started it, and the folder is removed. When the parent is gone
// without a word, so is what is left of the process group that it led.
// Arguments: the folder, the user's id, the group's id.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processesIn } from './processes-in.mjs';

const [folder, uid, gid] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];

const parent = process.ppid;
const ledGroup = groupOf(parent) === parent;

process.on('message', ({ name, command, args, end: enough }) => {
  if (enough) return void end();
  const log = openSync(join(folder, `${name}.log`), 'a');
  const child = spawn(command, args, { uid, gid, cwd: folder, stdio: ['ignore', log, log], env: environment() });
  closeSync(log);
  child.once('error', (error) => tell({ name, error: error.message }));
  child.once('spawn', () => tell({ name, pid: child.pid }));
});
process.on('disconnect', () => {
  if (ledGroup) kill(-parent);
  void end();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end());

/**
 * Returns the process group, the fifth field of `/proc/<pid>/stat`. The second field, the program's name, may contain
 * anything, but ends with the last parenthesis.
 */
function groupOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[2]);
}

function environment() {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: folder, LC_ALL: 'C' };
}

function tell(news) {
  if (process.connected) process.send(news, () => undefined);
}

/** Kills all processes, again until none is left: a killed process may just have started another one. */
async function end() {
  for (let left = processesIn(folder); left.length > 0; left = processesIn(folder)) {
    for (const pid of left) kill(pid);
    await delay(20);
  }
  rmSync(folder, { recursive: true, force: true });
  process.exit();
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
