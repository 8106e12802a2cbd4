import { Socket } from 'node:net';

/** Environment variable that names the file descriptor of the pipe to the parent process. */
export const PARENT_PIPE = 'PARLEY_PARENT_PIPE';

/**
 * Milliseconds from the end of the parent until this process kills itself, if its shutdown is not over by then. Two
 * nested processes end within two seconds of their parent.
 */
const ORDERLY_END_MS = 750;

/**
 * Ends this process when its parent process is gone, even if the parent was killed by SIGKILL.
 * - The parent keeps the other end of the pipe that `PARLEY_PARENT_PIPE` names. Without that variable nothing is
 *   watched.
 * - The shutdown begins in order, as for SIGTERM. After 750 ms this process kills itself with SIGKILL: another replica,
 *   or the next start, resumes the work.
 * - The variable is removed, so child processes do not inherit it.
 */
export function endWithParent(env: NodeJS.ProcessEnv = process.env, onGone: () => void = endSoon): void {
  const descriptor = Number(env[PARENT_PIPE]);
  delete env[PARENT_PIPE];
  if (!Number.isInteger(descriptor)) return;
  try {
    const pipe = new Socket({ fd: descriptor });
    // A broken pipe emits `close` after `error`.
    pipe.on('error', () => undefined).once('close', onGone);
    pipe.resume().unref();
  } catch {
    // The variable names no valid pipe: another program set it.
  }
}

function endSoon(): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ORDERLY_END_MS);
  process.kill(process.pid, 'SIGTERM');
}
