import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandError, EXIT, type ExitCode } from './exit-code.js';
import { nodeEnvironment, nodeFlags } from './node-settings.js';
import type { Session } from './session.js';

/** Runs another program of the package in a child process to its end. Its exit code becomes that of the command. */
export async function runEntry(entry: string, args: readonly string[], session: Session): Promise<void> {
  session.code = await waitForEnd(startEntry(entry, args));
}

/**
 * Turns this process into another program of the package. Resolves when that program has started. From then on, that
 * program handles the signals.
 */
export async function becomeEntry(entry: string, env: Readonly<Record<string, string>>): Promise<void> {
  const file = entryFile(entry);
  Object.assign(process.env, env);
  process.argv.splice(1, Infinity, file);
  await import(pathToFileURL(file).href);
}

/**
 * True if the child process gets its own process group, where groups exist. It then receives each signal once, from
 * this process, and not from the terminal as well.
 */
const OWN_GROUP = process.platform !== 'win32';

function startEntry(entry: string, args: readonly string[]): ChildProcess {
  // SIGKILL cannot be forwarded. The fourth descriptor is a pipe that closes with this process; the program watches it.
  return spawn(process.execPath, [...nodeFlags(), entryFile(entry), ...args], {
    env: { ...nodeEnvironment(), ...process.env, PARLEY_PARENT_PIPE: '3' },
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    detached: OWN_GROUP,
  });
}

/**
 * Returns the path of a program's JavaScript file, such as `src/main.js` below the root of the compiled code. Depending
 * on the build, this module is one, three or four folders below that root.
 * @throws CommandError if the file is missing
 */
function entryFile(entry: string): string {
  const places = ['..', '../../..', '../../../..'].map((up) => join(import.meta.dirname, up, `${entry}.js`));
  const file = places.find((it) => existsSync(it));
  if (file === undefined) throw new CommandError(`The package is not complete: ${entry}.js is missing`, EXIT.failed);
  return file;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Waits for the end of a child process, and forwards the signals of this process to it.
 * @returns its exit code; success if Ctrl-C ended it
 */
async function waitForEnd(child: ChildProcess): Promise<ExitCode> {
  const passed = new Set<NodeJS.Signals>();
  const passSignal = (signal: NodeJS.Signals): void => {
    // Under npm, both the terminal and npm's script send the signal.
    if (passed.has(signal) || (signal === 'SIGINT' && !OWN_GROUP)) return;
    passed.add(signal);
    child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, passSignal);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.on('exit', (...how) => resolve(how));
    child.on('error', (error) => reject(new CommandError(`Node could not be started: ${error.message}`, EXIT.failed)));
  });
  for (const signal of SIGNALS) process.off(signal, passSignal);
  const number = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  return (number === EXIT.interrupted ? EXIT.done : number) as ExitCode;
}
