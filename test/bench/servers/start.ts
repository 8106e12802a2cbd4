import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../../..');
const READY_WITHIN_MS = 60_000;

/** A server under measurement, in a process of its own. */
export interface BenchServer {
  /** Its address, without a slash at the end. */
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts one of the servers beside this file, which prints `ready <url>` when it is. */
export function startPeer(file: string, environment: Record<string, string> = {}): Promise<BenchServer> {
  return startProcess([join(import.meta.dirname, file)], environment, /ready (http\S+)/);
}

/** Starts the built Parley on a database. */
export function startParley(databaseUrl: string, environment: Record<string, string> = {}): Promise<BenchServer> {
  const main = join(ROOT, 'dist/src/main.js');
  if (!existsSync(main)) throw new Error('Parley is not built: run npm run build first');
  const settings = { PORT: '0', LOG_LEVEL: 'warn', DATABASE_URL: databaseUrl, ...environment };
  const profile =
    process.env.PROFILE_DIR === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE_DIR}`];
  return startProcess([...profile, main], settings, /Parley is ready on (http\S+)/);
}

async function startProcess(
  command: string[],
  environment: Record<string, string>,
  ready: RegExp,
): Promise<BenchServer> {
  const child = spawn(process.execPath, command, {
    env: { ...process.env, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = (await printed(child, ready)).replace(/\/$/, '');
  return { url, pid: child.pid ?? 0, stop: () => end(child) };
}

async function printed(child: ChildProcess, pattern: RegExp): Promise<string> {
  const late = setTimeout(() => child.kill('SIGKILL'), READY_WITHIN_MS);
  let text = '';
  try {
    for await (const chunk of child.stdout ?? []) {
      text += String(chunk);
      const found = pattern.exec(text)?.[1];
      if (found !== undefined) {
        child.stdout?.resume();
        return found;
      }
    }
  } finally {
    clearTimeout(late);
  }
  throw new Error(`${child.spawnargs.at(-1)} did not start: ${text}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const hard = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exit;
  clearTimeout(hard);
}
