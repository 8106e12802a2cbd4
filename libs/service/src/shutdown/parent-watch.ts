import { Socket } from 'node:net';

/** Environment variable that names the file descriptor of the pipe to the process that started this one. */
export const PARENT_PIPE = 'PARLEY_PARENT_PIPE';

/** Time that an orderly end has, in milliseconds. Two processes in a row end within two seconds of their starter. */
const ORDERLY_END_MS = 750;

/**
 * Ends this process when the process that started it is gone, also by SIGKILL.
 * - The starter keeps the other end of the pipe that `PARLEY_PARENT_PIPE` names; without that variable nothing is watched.
 * - The end begins in order, as for SIGTERM. What is not finished after 750 ms is cut off, as by SIGKILL: another replica,
 *   or the next start, resumes it.
 * - The variable is removed: children of this process do not inherit it.
 */
export function endWithParent(env: NodeJS.ProcessEnv = process.env, onGone: () => void = endSoon): void {
  const descriptor = Number(env[PARENT_PIPE]);
  delete env[PARENT_PIPE];
  if (!Number.isInteger(descriptor)) return;
  try {
    const pipe = new Socket({ fd: descriptor });
    // A broken pipe ends as well: `close` follows.
    pipe.on('error', () => undefined).once('close', onGone);
    pipe.resume().unref();
  } catch {
    // Somebody else set the variable: there is no such pipe.
  }
}

function endSoon(): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ORDERLY_END_MS);
  process.kill(process.pid, 'SIGTERM');
}
