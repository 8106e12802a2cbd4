/**
 * Flags and environment of a Node process that runs Parley. The `parley` command has a copy:
 * apps/cli/src/node-settings.ts.
 */
import { existsSync } from 'node:fs';
import * as os from 'node:os';

const MOST_HELPERS = 4;
const DEBIAN_FOLDERS = { x64: '/usr/lib/x86_64-linux-gnu', arm64: '/usr/lib/aarch64-linux-gnu' };
const LIBRARY_FOLDERS = ['/usr/lib64', '/usr/local/lib'];

/** Machine that this process runs on. */
const THIS_MACHINE = {
  platform: process.platform,
  arch: process.arch,
  // Early versions of Node 18 do not have the first one.
  processors: os.availableParallelism?.() ?? os.cpus().length,
  env: process.env,
  exists: existsSync,
};

/**
 * Returns the flags of Node.
 * - The young generation starts large enough for all work in flight: V8 would promote objects of a smaller one, and
 *   promoted objects keep later garbage alive.
 * - V8 does not predict from a line of code that its objects will live long.
 * - V8's helper threads leave one processor to the event loop and PostgreSQL.
 */
export function nodeFlags({ processors } = THIS_MACHINE) {
  const helpers = Math.max(1, Math.min(MOST_HELPERS, processors - 1));
  return [
    '--min-semi-space-size=16',
    '--max-semi-space-size=32',
    '--no-allocation-site-pretenuring',
    `--v8-pool-size=${helpers}`,
  ];
}

/**
 * Returns the variables that make the allocator return memory: jemalloc if it is installed, else glibc's.
 * `env` has precedence over them: an LD_PRELOAD in it, even an empty one, keeps jemalloc out.
 */
export function nodeEnvironment(machine = THIS_MACHINE) {
  const glibc = { MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '1048576' };
  const library = jemallocOf(machine);
  return library === undefined ? glibc : { ...glibc, ...jemallocEnvironment(library, machine.env) };
}

/** Returns the variables that replace glibc's allocator with a jemalloc library. */
export function jemallocEnvironment(library, env = process.env) {
  const { MALLOC_CONF = 'background_thread:true,dirty_decay_ms:5000,muzzy_decay_ms:0,narenas:2' } = env;
  return { LD_PRELOAD: library, MALLOC_CONF };
}

function jemallocOf({ platform, arch, env, exists }) {
  if (platform !== 'linux' || env.LD_PRELOAD !== undefined) return undefined;
  const folders = [DEBIAN_FOLDERS[arch] ?? [], LIBRARY_FOLDERS].flat();
  return folders.map((folder) => `${folder}/libjemalloc.so.2`).find((path) => exists(path));
}
