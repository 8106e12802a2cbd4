import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

const CACHE = join(process.cwd(), 'node_modules/.cache');

/** Program or library in one of Debian's packages: it is extracted, and not installed with what it depends on. */
export interface DebianProgram {
  package: string;
  /** Where its package puts it. */
  path: string;
}

/** Where it is; throws where it is nowhere. */
export function placeOf(program: DebianProgram): string {
  const place = placesOf(program).find((it) => existsSync(it));
  if (place === undefined) throw new Error(`There is no ${program.path} here`);
  return place;
}

/** Why it cannot be had; fetches it where it can. */
export function whyNone(program: DebianProgram): string | undefined {
  const name = basename(program.path);
  if (placesOf(program).some((place) => existsSync(place))) return undefined;
  if (process.platform !== 'linux' || !runs('apt-get', '--version'))
    return `no ${name} here, nor Debian to take it from`;
  process.stdout.write(`Fetching ${name} for tests (only the first time) …\n`);
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'fetched-'));
  try {
    const download = (): boolean => runs('sh', '-c', `cd ${folder} && apt-get download ${program.package}`);
    if (!download() && !(runs('apt-get', 'update') && download()))
      return `no ${name} here, and apt-get could not fetch it`;
    const file = readdirSync(folder).find((it) => it.endsWith('.deb')) ?? '';
    runs('sh', '-c', `dpkg-deb --fsys-tarfile ${join(folder, file)} | tar -x -C ${folder} .${program.path}`);
    if (!existsSync(join(folder, program.path))) return `no ${name} here, and none in its package`;
    // At once: another process may be about to run it.
    renameSync(join(folder, program.path), join(CACHE, name));
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function placesOf({ path }: DebianProgram): string[] {
  return [path, join('/usr/local/bin', basename(path)), join(CACHE, basename(path))];
}

function runs(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
