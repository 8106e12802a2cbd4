import { randomUUID } from 'node:crypto';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { areFactsDropped, DROPS_FACTS } from './dropped-facts.js';
import { SAFETY_NET_MS, before, until } from './until.js';

export { freePort } from './free-port.mjs';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Flags of Node for the size of V8's young generation, as scripts/prepare.mjs sets it: a smaller one is collected three
 * times during a start.
 */
const YOUNG_GENERATION = ['--min-semi-space-size=16', '--max-semi-space-size=32'];
/** Flags of Node that skip the garbage collection at the end of a start. */
const KEEP_START_MEMORY = ['--import', pathToFileURL(join(import.meta.dirname, 'keep-start-memory.mjs')).href];

export interface ParleyOptions {
  /** URL of the database; absent: the service runs its embedded database under `dataDir`. */
  databaseUrl?: string;
  dataDir?: string;
  /** Main file of the service; default: the one that was built for the tests. */
  main?: string;
  /** Additional environment; may override `PORT` and `HOST`. */
  env?: Record<string, string>;
  /** True if the test measures the memory of the service, which then returns what only its start needed. */
  measuresMemory?: boolean;
  /** Maximum milliseconds until the ready line; default 60,000. */
  within?: number;
}

/** Running service in a separate process. */
export interface Parley {
  /** Base URL of the service, without a trailing slash. */
  url: string;
  pid: number;
  /** Returns everything that the service wrote so far, to standard output and standard error. */
  logs(): string;
  stdout(): string;
  running(): boolean;
  /** Sends SIGTERM and waits for the end. @returns the exit code */
  stop(): Promise<number | null>;
  kill9(): Promise<void>;
  /** Suspends the process (SIGSTOP). Its connections stay open. */
  freeze(): void;
  /** Resumes the process (SIGCONT). */
  thaw(): void;
}

/** Starts the built service on a free port of 127.0.0.1 and waits for its ready line. */
export async function startParley(options: ParleyOptions = {}): Promise<Parley> {
  const service = spawnParley(options);
  const limit = { within: options.within ?? SAFETY_NET_MS, what: 'the ready line' };
  const url = await until(() => {
    if (service.child.exitCode !== null)
      throw new Error(`Parley ended with ${service.child.exitCode}: ${service.logs()}`);
    return /Parley is ready on (https?:\/\/\S+)/.exec(service.stdout())?.[1];
  }, limit).catch((error: Error) => {
    service.child.kill('SIGKILL');
    throw new Error(`${error.message}\n${service.logs()}`);
  });
  const ended = (): boolean => service.child.exitCode !== null || service.child.signalCode !== null;
  return {
    url: url.replace(/\/$/, ''),
    pid: service.child.pid ?? 0,
    logs: service.logs,
    stdout: service.stdout,
    running: () => !ended(),
    freeze: () => void service.child.kill('SIGSTOP'),
    thaw: () => void service.child.kill('SIGCONT'),
    stop: async () => {
      if (!ended()) {
        const exit = once(service.child, 'exit');
        service.child.kill('SIGTERM');
        await before(exit, { what: 'Parley to stop' }).catch(async (error: Error) => {
          service.child.kill('SIGKILL');
          await exit;
          throw error;
        });
      }
      return service.child.exitCode;
    },
    kill9: async () => {
      if (ended()) return;
      const exit = once(service.child, 'exit');
      service.child.kill('SIGKILL');
      await exit;
    },
  };
}

/**
 * Starts a service that is expected to refuse its start, and waits for its end.
 * @param stopWhen resolves when the service must be stopped although it has not ended
 */
export async function startRefused(
  options: ParleyOptions,
  stopWhen?: Promise<unknown>,
): Promise<{ code: number | null; logs: string }> {
  const service = spawnParley(options);
  const closed = once(service.child, 'close');
  try {
    await stopWhen;
    if (stopWhen) service.child.kill('SIGTERM');
    await before(closed, { within: options.within ?? SAFETY_NET_MS, what: 'Parley to refuse its configuration' });
  } finally {
    service.child.kill('SIGKILL');
  }
  return { code: service.child.exitCode, logs: service.logs() };
}

function spawnParley(options: ParleyOptions): { child: ChildProcess; logs(): string; stdout(): string } {
  let all = '';
  let out = '';
  const own = join(tmpdir(), `parley-own-${randomUUID()}`);
  const child = spawn(pinnedNode(), [...YOUNG_GENERATION, ...startFlags(options), options.main ?? builtMain()], {
    cwd: tmpdir(),
    env: environment(options, own),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.once('close', () => rmSync(own, { recursive: true, force: true }));
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
    all += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => (all += chunk));
  return { child, logs: () => all, stdout: () => out };
}

/**
 * Returns the flags that spare the start a collection; none in chaos trials, and where a test limits or measures
 * memory.
 */
function startFlags({ env, measuresMemory = false }: ParleyOptions): readonly string[] {
  const isTestRun = process.env.PARLEY_TEST_COMPILED !== undefined;
  const isLimited = env?.['NODE_OPTIONS'] !== undefined;
  return isTestRun && !isLimited && !measuresMemory ? KEEP_START_MEMORY : [];
}

/**
 * @param own DATA_DIR of a service with an external database. It is new for each service: data of an earlier service
 * would otherwise be known to the next one at the same address
 */
function environment({ databaseUrl, dataDir, env }: ParleyOptions, own: string): Record<string, string> {
  return {
    ...compileCache(),
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '/tmp',
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    SHUTDOWN_GRACE: '2',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl, DATA_DIR: own }),
    ...(dataDir !== undefined && { DATA_DIR: dataDir }),
    ...(areFactsDropped && DROPS_FACTS),
    ...env,
  };
}

/** Returns the built main file of an app, beside that of the service. */
export function appMain(app: string): string {
  return resolve(dirname(builtMain()), '../apps', app, 'src/main.js');
}

/** Returns the path of a built library, with the packages that it needs. */
export function builtLib(lib: string): string {
  return resolve(dirname(builtMain()), '../libs', lib, 'src/index.js');
}

function builtMain(): string {
  const main = process.env.PARLEY_TEST_MAIN;
  if (main === undefined) throw new Error('The service is not built: run npm run build first');
  return main;
}

/** Returns the environment by which processes share compiled code. */
export function compileCache(): Record<string, string> {
  const folder = process.env.PARLEY_TEST_COMPILED;
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

function pinnedNode(): string {
  const pinned = join(ROOT, 'node_modules/.bin/node');
  return existsSync(pinned) ? pinned : process.execPath;
}

/**
 * Creates the path of a DATA_DIR that does not exist yet. `remove()` also ends a database server that was left running
 * in it.
 */
export function freshDataDir(): { path: string; remove(): Promise<void> } {
  const parent = mkdtempSync(join(tmpdir(), 'parley-data-'));
  chmodSync(parent, 0o755);
  return {
    path: join(parent, 'data'),
    remove: async () => {
      await Promise.all(postmasters(parent).map(endProcess));
      rmSync(parent, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** The process ids of the database servers that run in a folder. */
export function postmasters(folder: string): number[] {
  return allNames(folder)
    .filter((name) => name.endsWith('postmaster.pid') && dirname(name).length > 0)
    .map((name) => processIn(join(folder, name)))
    .filter((pid) => pid > 0 && alive(pid));
}

/** Lists the files in a folder and its subfolders; tries again if a folder changes meanwhile. */
function allNames(folder: string): string[] {
  while (existsSync(folder)) {
    try {
      return readdirSync(folder, { recursive: true, encoding: 'utf8' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return [];
}

/** Reads the process id in a `postmaster.pid`; 0 if the server has just removed the file. */
function processIn(postmasterFile: string): number {
  try {
    return Number(readFileSync(postmasterFile, 'utf8').split('\n')[0]);
  } catch {
    return 0;
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function endProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGQUIT');
  await until(() => !alive(pid), { what: `process ${pid} to end` });
}
