/** Detection of the end that is requested of a script. */
import { readFileSync } from 'node:fs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 250;

/**
 * Environment of a child whose fourth stdio is a pipe to this script: the child ends when the pipe closes, which it
 * does even where this script is killed.
 */
export const WATCHED = { PARLEY_PARENT_PIPE: '3' };

/**
 * Calls back with the name of every signal that asks this process to end.
 * - npm's shell dies of a signal without passing it on: under npm the end of the parent process counts as SIGTERM.
 * - `onOrphaned` is called where npm itself was killed and its shell was left behind. By default that counts as
 *   SIGTERM.
 */
export function onEnding(callback, onOrphaned = () => callback('SIGTERM')) {
  for (const signal of SIGNALS) process.on(signal, () => callback(signal));
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const npm = isShellOfNpm(parent) ? parentOf(parent) : undefined;
  const timer = setInterval(() => {
    const isShellGone = process.ppid !== parent;
    if (!isShellGone && (npm === undefined || (parentOf(parent) ?? npm) === npm)) return;
    clearInterval(timer);
    if (isShellGone) callback('SIGTERM');
    else onOrphaned();
  }, PARENT_CHECK_MS);
  timer.unref();
}

/**
 * True if a process is a shell that runs a line for npm. Where a shell becomes the program, npm itself is the parent.
 */
function isShellOfNpm(pid) {
  return ofProcess(pid, 'cmdline')?.split('\0')[1] === '-c';
}

/** Returns the parent of a process; `undefined` where the process has ended, or on systems without /proc. */
function parentOf(pid) {
  // The name of the program, in parentheses, may have any character.
  const [, parent] = /^.*\) \S+ (\d+) /s.exec(ofProcess(pid, 'stat') ?? '') ?? [];
  return parent === undefined ? undefined : Number(parent);
}

function ofProcess(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
