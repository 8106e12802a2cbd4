import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

const CACHE = join(process.cwd(), 'node_modules/.cache');

/** Program or library in a package of Debian. It is extracted from the package; dependencies are not installed. */
export interface DebianProgram {
  package: string;
  /** Path of the program in the package. */
  path: string;
}

/** Returns the path of a program on this machine. Throws if there is none. */
export function placeOf(program: DebianProgram): string {
  const place = placesOf(program).find((it) => existsSync(it));
  if (place === undefined) throw new Error(`There is no ${program.path} here`);
  return place;
}

/** Returns the reason why a program cannot be provided; downloads the program if it is missing and available. */
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
