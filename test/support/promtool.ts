import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PLACES = ['/usr/bin/promtool', join(process.cwd(), 'node_modules/.cache/promtool/usr/bin/promtool')];

/**
 * A group of tests with Prometheus's `promtool`. Where it is missing it is taken out of Debian's package, which is not
 * installed; where that cannot be they are reported as skipped, with the reason.
 */
export function describeWithPromtool(name: string, tests: () => void): void {
  const reason = whyNone();
  if (reason === undefined) describe(name, tests);
  else describe['skip'](`${name} (skipped: ${reason})`, tests);
}

/** @returns what it said; throws that where it found something wrong */
export function promtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program() ?? '', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}

function program(): string | undefined {
  return PLACES.find((place) => existsSync(place));
}

function whyNone(): string | undefined {
  if (program() !== undefined) return undefined;
  if (process.platform !== 'linux' || !runs('apt-get', '--version'))
    return 'no promtool here, nor Debian to take it from';
  process.stdout.write('Fetching promtool for tests (only the first time) …\n');
  const folder = mkdtempSync(join(tmpdir(), 'parley-promtool-'));
  try {
    const download = (): boolean => runs('sh', '-c', `cd ${folder} && apt-get download prometheus`);
    if (!download() && !(runs('apt-get', 'update') && download()))
      return 'no promtool here, and apt-get could not fetch it';
    const file = readdirSync(folder).find((it) => it.endsWith('.deb')) ?? '';
    const into = join(process.cwd(), 'node_modules/.cache/promtool');
    mkdirSync(into, { recursive: true });
    runs('sh', '-c', `dpkg-deb --fsys-tarfile ${join(folder, file)} | tar -x -C ${into} ./usr/bin/promtool`);
    return program() === undefined ? 'no promtool here, and none in its package' : undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runs(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
