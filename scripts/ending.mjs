/** How a script learns that it shall end. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 250;

/**
 * Environment of a child whose fourth stdio is a pipe to this script: the child ends when the pipe closes, which it does
 * even where this script is killed.
 */
export const WATCHED = { PARLEY_PARENT_PIPE: '3' };

/**
 * Calls back with the name of every signal that asks this process to end. npm's shell dies of a signal without passing
 * it on, so under npm the end of the parent process counts as SIGTERM.
 */
export function onEnding(callback) {
  for (const signal of SIGNALS) process.on(signal, () => callback(signal));
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback('SIGTERM');
  }, PARENT_CHECK_MS);
  timer.unref();
}
