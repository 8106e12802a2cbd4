/**
 * Flags and environment of a Node.js process that runs Parley. The npm scripts have a copy: scripts/node-settings.mjs.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Facts about a machine that determine the flags and environment of Node. */
export interface NodeMachine {
  platform: NodeJS.Platform;
  arch: string;
  /** Number of processors that this process may use. */
  processors: number;
  env: NodeJS.ProcessEnv;
  exists: (path: string) => boolean;
}

const MOST_HELPERS = 4;
const DEBIAN_FOLDERS: Record<string, string> = {
  x64: '/usr/lib/x86_64-linux-gnu',
  arm64: '/usr/lib/aarch64-linux-gnu',
};
const LIBRARY_FOLDERS = ['/usr/lib64', '/usr/local/lib'];
const JEMALLOC = 'libjemalloc.so.2';
const JEMALLOC_SETTINGS = 'background_thread:true,dirty_decay_ms:5000,muzzy_decay_ms:0,narenas:2';

const THIS_MACHINE: NodeMachine = {
  platform: process.platform,
  arch: process.arch,
  processors: availableParallelism(),
  env: process.env,
  exists: existsSync,
};

/**
 * Returns the flags of Node for a service: much memory for short-lived objects, and so few helper threads of V8 that a
 * processor is left for the service's own thread.
 */
export function nodeFlags({ processors } = THIS_MACHINE): string[] {
  const helpers = Math.max(1, Math.min(MOST_HELPERS, processors - 1));
  return [
    '--min-semi-space-size=16',
    '--max-semi-space-size=32',
    '--no-allocation-site-pretenuring',
    `--v8-pool-size=${helpers}`,
  ];
}

/**
 * Returns environment variables that make the memory allocator return freed memory to the system: jemalloc if it is
 * installed, else glibc's. Variables in `env` take precedence: an LD_PRELOAD there, even an empty one, prevents
 * jemalloc.
 */
export function nodeEnvironment(machine = THIS_MACHINE): Record<string, string> {
  const glibc = { MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '1048576' };
  const library = jemallocOf(machine);
  const { MALLOC_CONF = JEMALLOC_SETTINGS } = machine.env;
  return library === undefined ? glibc : { ...glibc, LD_PRELOAD: library, MALLOC_CONF };
}

/**
 * Returns an environment without a preloaded jemalloc, for programs other than Node. An LD_PRELOAD of another library
 * stays.
 */
export function withoutJemalloc(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { LD_PRELOAD, ...others } = env;
  return LD_PRELOAD?.endsWith(`/${JEMALLOC}`) ? others : env;
}

function jemallocOf({ platform, arch, env, exists }: NodeMachine): string | undefined {
  if (platform !== 'linux' || env['LD_PRELOAD'] !== undefined) return undefined;
  const folders = [DEBIAN_FOLDERS[arch] ?? [], LIBRARY_FOLDERS].flat();
  return folders.map((folder) => `${folder}/${JEMALLOC}`).find((path) => exists(path));
}
