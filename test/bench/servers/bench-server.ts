import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../../..');
const READY_WITHIN_MS = 60_000;
/** Milliseconds until a server that runs under a slow program must be ready. */
const READY_LATE_WITHIN_MS = 5 * 60_000;

/** Server under measurement, in a separate process. */
export interface BenchServer {
  /** Base URL of the server, without a trailing slash. */
  url: string;
  pid: number;
  running(): boolean;
  /** Ends the server: Parley by SIGTERM, any other server by SIGKILL, unless `signal` is given. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Other way to start Node: a program that runs it, with its arguments, and flags of Node. */
export interface Under {
  program: string[];
  nodeFlags: string[];
}

/**
 * Starts one of the servers beside this file, which prints `ready <url>` when it is ready, and ends with this process.
 */
export function startPeer(file: string, environment: Record<string, string> = {}, under?: Under): Promise<BenchServer> {
  return startProcess([join(import.meta.dirname, file)], environment, /^ready (http\S+)/m, 'peer', under);
}

/** Starts the built Parley on a database. With PROFILE_DIR in the environment it writes a CPU profile there. */
export async function startParley(
  databaseUrl: string,
  environment: Record<string, string> = {},
  under?: Under,
): Promise<BenchServer> {
  const main = join(ROOT, 'dist/src/main.js');
  if (!existsSync(main)) throw new Error('Parley is not built: run npm run build first');
  const settings = { PORT: '0', LOG_LEVEL: 'warn', DATABASE_URL: databaseUrl };
  const folder = process.env.PROFILE_DIR;
  const profile = folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
  const { NODE_ENVIRONMENT, NODE_FLAGS } = await import(join(ROOT, 'scripts/prepare.mjs'));
  const all = { ...NODE_ENVIRONMENT, ...settings, ...environment };
  return startProcess([...NODE_FLAGS, ...profile, main], all, /Parley is ready on (http\S+)/, 'parley', under);
}

async function startProcess(
  command: string[],
  environment: Record<string, string>,
  ready: RegExp,
  kind: 'peer' | 'parley',
  { program, nodeFlags }: Under = { program: [], nodeFlags: [] },
): Promise<BenchServer> {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', ...nodeFlags];
  const [first = '', ...rest] = [...program, ...node, ...command];
  const child = spawn(first, rest, {
    env: { ...process.env, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'pipe', 'inherit', kind === 'peer' ? 'ipc' : 'ignore'],
  });
  const url = (await printed(child, ready, program.length > 0 ? READY_LATE_WITHIN_MS : READY_WITHIN_MS)).replace(
    /\/$/,
    '',
  );
  const usual = kind === 'peer' ? 'SIGKILL' : 'SIGTERM';
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  return { url, pid: child.pid ?? 0, running, stop: (signal = usual) => end(child, signal) };
}

/**
 * Waits for a line that matches a pattern. The output is read to its end, since a server blocks if its output is not
 * read.
 */
function printed(child: ChildProcess, pattern: RegExp, withinMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const late = setTimeout(() => child.kill('SIGKILL'), withinMs);
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text = `${text}${chunk}`.slice(-10_000);
      const found = pattern.exec(text)?.[1];
      if (found === undefined) return;
      clearTimeout(late);
      resolve(found);
    });
    child.stdout?.once('close', () => {
      clearTimeout(late);
      reject(new Error(`${child.spawnargs.at(-1)} did not start: ${text}`));
    });
  });
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  const hard = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exit;
  clearTimeout(hard);
}
