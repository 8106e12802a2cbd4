import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { withHomeLock } from './home-lock.js';
import { findRunningServer, isOnlySession, type ServerSetup, stopServer } from './running-server.js';
import { removeShortFolder } from './server-address.js';

/** Process that waits for the end of this one. If this process is killed, the guard stops the server. */
export interface ServerGuard {
  /** Ends the guard without stopping the server. Call it when this process no longer uses the server. Idempotent. */
  dismiss(): void;
}

/** Path of the guard's program, relative to the folder of compiled programs. */
const PROGRAM = 'src/stop-abandoned-database.js';
/**
 * Possible paths of the folder of compiled programs, relative to this file: for the compiled file, for the file as
 * compiled for measurements, and for the source file.
 */
const PROGRAM_FOLDERS = ['..', '../..', '../../../../dist'];
/**
 * Arguments of a shell that waits for a line, and is replaced by the guard's program if its input ends without one. A
 * waiting shell needs only a megabyte of memory.
 */
const WAIT_IN_SHELL = ['-c', 'read -r dismissed || exec "$@"', 'sh'];
const LOCK_WAIT_MS = 120_000;

/** Arguments of the guard's program, as JSON. The password is not among them: other users can read arguments. */
interface GuardOrder extends Pick<ServerSetup, 'home' | 'programs'> {
  /** Name of the sessions of the guarded process. */
  sessions: string;
}

/**
 * Starts a guard for this process.
 * - The guard waits on a pipe, which the system closes at the death of this process, also by SIGKILL.
 * - It runs in a separate session, so that Ctrl-C and the end of a process group do not reach it.
 * - Each process that uses the server has its own guard; the last one stops the server.
 */
export function guardServer({ home, programs }: ServerSetup, sessions: string): ServerGuard {
  const program = PROGRAM_FOLDERS.map((folder) => join(import.meta.dirname, folder, PROGRAM)).find((it) =>
    existsSync(it),
  );
  if (program === undefined) return { dismiss: () => undefined };
  const order: GuardOrder = { home, programs, sessions };
  const command = [process.execPath, program, JSON.stringify(order)];
  const [file = '', ...args] =
    process.platform === 'win32' ? [...command, 'wait'] : ['/bin/sh', ...WAIT_IN_SHELL, ...command];
  const guard = spawn(file, args, {
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: home.directory,
    env: guardEnvironment(),
  });
  const pipe = guard.stdin as Socket;
  for (const it of [guard, pipe]) it.on('error', () => undefined).unref();
  return { dismiss: () => void (pipe.writable && pipe.end('dismissed\n')) };
}

function guardEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, TEMP, NODE_COMPILE_CACHE } = process.env;
  return { PATH, SystemRoot, TEMP, NODE_COMPILE_CACHE };
}

/**
 * Stops the server that a killed process used, unless another process uses it.
 * @param text the guard's order, as JSON
 */
export async function stopAbandonedServer(text: string): Promise<void> {
  const { home, programs, sessions } = JSON.parse(text) as GuardOrder;
  // Without the folder there is nothing to stop, and no lock file may be created.
  if (!existsSync(home.passwordFile)) return;
  await withHomeLock(home.lockFile, LOCK_WAIT_MS, async () => {
    const password = readFileSync(home.passwordFile, 'utf8').trim();
    const setup: ServerSetup = { home, programs, account: undefined, password };
    const server = await findRunningServer(setup);
    if (server === undefined) return;
    const isAbandoned = await isOnlySession(server.session, sessions);
    await server.session.end().catch(() => undefined);
    if (!isAbandoned) return;
    await stopServer(setup);
    removeShortFolder(home);
  });
}
