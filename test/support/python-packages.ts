import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the sentence why no Python of a version can run on this machine, if so. */
export function whyNoPython(least: readonly [number, number] = [3, 10]): string | undefined {
  const check = `import sys, venv; sys.exit(sys.version_info < (${least.join(', ')}))`;
  if (spawnSync('python3', ['-c', check]).status === 0) return undefined;
  return `Python ${least.join('.')} or newer is not installed here`;
}

/**
 * Installs the packages of a lock file into a virtual environment that later runs use again while the lock is the same.
 * @param home folder of the environment
 * @param timeout milliseconds after which the installation is given up
 * @returns the folder of its programs
 * @throws Error with the output of a command that failed
 */
export function installPythonPackages(lock: string, home: string, timeout?: number): string {
  const stamp = join(home, 'requirements.txt');
  const bin = join(home, process.platform === 'win32' ? 'Scripts' : 'bin');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === readFileSync(lock, 'utf8')) return bin;
  rmSync(home, { recursive: true, force: true });
  runOrFail(dirname(lock), 'python3', ['-m', 'venv', home], timeout);
  const install = ['install', '--quiet', '--disable-pip-version-check', '--no-deps', '--requirement', lock];
  runOrFail(dirname(lock), join(bin, 'pip'), install, timeout);
  copyFileSync(lock, stamp);
  return bin;
}

/** Bytes that a command may print. */
const MOST_BYTES = 1024 ** 3;

/** Runs a command to its end. @throws Error with its output if it fails */
export function runOrFail(folder: string, command: string, args: readonly string[], timeout?: number): string {
  const options = { cwd: folder, encoding: 'utf8', timeout, maxBuffer: MOST_BYTES } as const;
  const outcome: SpawnSyncReturns<string> = spawnSync(command, args, options);
  if (outcome.status === 0) return outcome.stdout;
  const why = outcome.error?.message ?? `exit code ${outcome.status}`;
  throw new Error(`${command} ${args.join(' ')}: ${why}\n${outcome.stdout}${outcome.stderr}`);
}
