import { join } from 'node:path';
import { type DebianProgram, placeOf, whyNone } from '../../support/debian-program.ts';
import { ROOT } from './bench-server.ts';

const TRIPLE = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
const JEMALLOC: DebianProgram = { package: 'libjemalloc2', path: `/usr/lib/${TRIPLE}/libjemalloc.so.2` };

/**
 * Returns the environment that gives Parley the allocator of the image. A missing jemalloc is downloaded from Debian's
 * package.
 * Returns an empty environment, and adds a note, if that fails.
 */
export async function imageAllocator(note: (text: string) => void): Promise<Record<string, string>> {
  const settings = (await import(join(ROOT, 'scripts/node-settings.mjs'))) as {
    nodeEnvironment(): Record<string, string>;
    jemallocEnvironment(library: string): Record<string, string>;
  };
  if (process.env['LD_PRELOAD'] !== undefined || settings.nodeEnvironment()['LD_PRELOAD'] !== undefined) return {};
  const reason = whyNone(JEMALLOC);
  if (reason === undefined) return settings.jemallocEnvironment(placeOf(JEMALLOC));
  note(`Parley used glibc's allocator, and not jemalloc as in the image: ${reason}`);
  return {};
}
