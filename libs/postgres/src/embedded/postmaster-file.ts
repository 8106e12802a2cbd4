import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import type { ServerAddress } from './server-address.js';

/** Content of `postmaster.pid` in PostgreSQL's data directory. */
export interface PostmasterFile {
  pid: number;
  /** Address of the server; absent until it listens. */
  address?: ServerAddress;
}

/** Returns the content; `undefined` if no server has claimed the data directory. */
export function readPostmasterFile(cluster: string): PostmasterFile | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    const [pid, port, folder, host] = [Number(lines[0]), Number(lines[3]), lines[4], lines[5]];
    const listening = folder || host;
    return { pid, ...(listening && port > 0 && { address: { host: listening, port } }) };
  } catch {
    return undefined;
  }
}

/**
 * State of a process: `running`: a PostgreSQL of this data directory. `zombie`: ended, but not reaped. `other`: the
 * number belongs to another process by now.
 */
export type PostmasterState = 'running' | 'zombie' | 'other' | 'gone';

export function postmasterState(pid: number, cluster: string): PostmasterState {
  if (!isAlive(pid)) return 'gone';
  if (process.platform === 'linux') return linuxState(pid, cluster);
  if (process.platform === 'win32') return 'running';
  return psState(pid, cluster);
}

/**
 * Replaces the process number of an ended server by one that no process can have. PostgreSQL refuses a data directory
 * while that number is alive, even as a zombie or as an unrelated process after a reboot. With the replacement it
 * relies on its better check, whether the old server's shared memory is still in use.
 */
export function disownPostmasterFile(cluster: string): void {
  const path = join(cluster, 'postmaster.pid');
  const [, ...rest] = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, [String(IMPOSSIBLE_PID), ...rest].join('\n'));
}

/** Process number beyond the largest one of any kernel (2^22 on Linux), within PostgreSQL's `int`. */
const IMPOSSIBLE_PID = 2_147_483_646;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function linuxState(pid: number, cluster: string): PostmasterState {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    if (/^\d+ \(.*\) [ZX]/s.test(status)) return 'zombie';
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return words.includes(cluster) ? 'running' : 'other';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : 'running';
  }
}

function psState(pid: number, cluster: string): PostmasterState {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    if (line.startsWith('Z')) return 'zombie';
    return line.includes(cluster) ? 'running' : 'other';
  } catch {
    return 'running';
  }
}
