import * as command from './node-settings.js';
import type { NodeMachine } from './node-settings.js';

/** Path in a variable: the scripts have no types. */
const SCRIPTS: string = '../../../scripts/node-settings.mjs';
const scripts = (await import(SCRIPTS)) as Pick<typeof command, 'nodeEnvironment' | 'nodeFlags'>;

const DEBIAN = '/usr/lib/x86_64-linux-gnu/libjemalloc.so.2';
const DEBIAN_ARM = '/usr/lib/aarch64-linux-gnu/libjemalloc.so.2';
const GLIBC = { MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '1048576' };
const MALLOC_CONF = 'background_thread:true,dirty_decay_ms:5000,muzzy_decay_ms:0,narenas:2';

/** Returns a machine on which these libraries are installed. */
function machine(libraries: string[], facts: Partial<NodeMachine> = {}): NodeMachine {
  const exists = (path: string): boolean => libraries.includes(path);
  return { platform: 'linux', arch: 'x64', processors: 2, env: {}, exists, ...facts };
}

describe.each([
  ['npm scripts', scripts],
  ['parley command', command],
])('Node as started by the %s', (_name, { nodeEnvironment, nodeFlags }) => {
  it.each([
    ['x64', DEBIAN],
    ['arm64', DEBIAN_ARM],
    ['x64', '/usr/lib64/libjemalloc.so.2'],
    ['arm64', '/usr/local/lib/libjemalloc.so.2'],
  ])('preloads jemalloc on %s from %s', (arch, library) => {
    expect(nodeEnvironment(machine([library], { arch }))).toEqual({ ...GLIBC, LD_PRELOAD: library, MALLOC_CONF });
  });

  it.each([
    ['is not installed', machine([])],
    ['is installed for another processor', machine([DEBIAN_ARM])],
    ['is found on another system than Linux', machine([DEBIAN], { platform: 'darwin' })],
    ['meets a library that the user preloads', machine([DEBIAN], { env: { LD_PRELOAD: '/usr/lib/other.so' } })],
    ['is turned off by an empty LD_PRELOAD', machine([DEBIAN], { env: { LD_PRELOAD: '' } })],
  ])("sets glibc's variables only where jemalloc %s", (_case, here) => {
    expect(nodeEnvironment(here)).toEqual(GLIBC);
  });

  it("keeps the user's settings of jemalloc", () => {
    const env = { MALLOC_CONF: 'narenas:1' };
    expect(nodeEnvironment(machine([DEBIAN], { env }))).toEqual({ ...GLIBC, ...env, LD_PRELOAD: DEBIAN });
  });

  it.each([
    [1, 1],
    [2, 1],
    [4, 3],
    [64, 4],
  ])("leaves a processor to the event loop: of %d, V8's helper threads get %d", (processors, helpers) => {
    expect(nodeFlags(machine([], { processors }))).toEqual([
      '--min-semi-space-size=16',
      '--max-semi-space-size=32',
      '--no-allocation-site-pretenuring',
      `--v8-pool-size=${helpers}`,
    ]);
  });
});
