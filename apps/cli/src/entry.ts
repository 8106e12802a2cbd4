import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { CommandError, EXIT, type ExitCode } from './exit-code.js';
import type { Session } from './session.js';

/** As the service is tested and measured: most of what it makes is short-lived. */
const NODE_FLAGS = ['--enable-source-maps', '--min-semi-space-size=16', '--max-semi-space-size=32'];

/** Runs another program of the package to its end; its exit code is the command's. */
export async function runEntry(entry: string, args: readonly string[], session: Session): Promise<void> {
  const child = startEntry(entry, args, process.env);
  session.code = await ended(child);
}

/** Starts another program of the package, with this one's output. */
export function startEntry(entry: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  // Compiled, this file is in a folder of chunks or in that of the command; the programs stand beside both.
  const file = ['..', '../../..', '../../../..']
    .map((up) => join(import.meta.dirname, up, `${entry}.js`))
    .find((it) => existsSync(it));
  if (file === undefined) throw new CommandError(`The package is not complete: ${entry}.js is missing`, EXIT.failed);
  return spawn(process.execPath, [...NODE_FLAGS, file, ...args], { stdio: 'inherit', env });
}

/** Waits for the end of a program, and hands it the signals that this one gets. Ctrl-C is an orderly end. */
export async function ended(child: ChildProcess): Promise<ExitCode> {
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  // The terminal gives Ctrl-C to the program as well: this one only has to stay until it has ended.
  const stay = (): void => undefined;
  process.on('SIGTERM', pass);
  process.on('SIGINT', stay);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.on('exit', (...how) => resolve(how));
    child.on('error', (error) => reject(new CommandError(`Node could not be started: ${error.message}`, EXIT.failed)));
  });
  process.off('SIGTERM', pass);
  process.off('SIGINT', stay);
  const number = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  return (number === EXIT.interrupted ? EXIT.done : number) as ExitCode;
}
