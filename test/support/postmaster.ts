import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { postmasters } from './parley.js';
import { until } from './until.js';

/** State of the database server of a folder, as Linux reports it. */
export interface Postmaster {
  pid: number;
  /** User id of the server's account; `gid` is its group id. */
  uid: number;
  gid: number;
  /** Numbers of the server's open files. */
  files: string[];
  /** TCP ports on which the server listens. */
  ports: number[];
  /** Paths of the Unix sockets on which the server listens. */
  sockets: string[];
}

/** Returns the state of the only database server of a folder. Throws if there is none. */
export function postmasterIn(folder: string): Postmaster {
  const [pid] = postmasters(folder);
  if (pid === undefined) throw new Error(`No database server runs in ${folder}`);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const own = openSockets(pid);
  return {
    pid,
    uid: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]),
    gid: Number(/^Gid:\s+(\d+)/m.exec(status)?.[1]),
    files: readdirSync(`/proc/${pid}/fd`),
    ports: [...tcpListeners('/proc/net/tcp'), ...tcpListeners('/proc/net/tcp6')]
      .filter(({ inode }) => own.has(inode))
      .map(({ port }) => port),
    sockets: unixListeners()
      .filter(({ inode }) => own.has(inode))
      .map(({ path }) => path),
  };
}

/** Returns the ids of the processes of a database server that serve sessions of Parley. */
export function sessionProcesses(postmaster: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parent) === postmaster && args.startsWith('postgres: parley parley') ? [Number(pid)] : [];
  });
}

/** Holds the lock under which Parley starts the server of a data directory. @returns a function that releases it */
export async function holdHomeLock(dataDir: string): Promise<() => void> {
  const lock = new DatabaseSync(join(dataDir, 'postgres', 'lock.sqlite'));
  await until(
    () => {
      try {
        lock.exec('BEGIN IMMEDIATE');
        return true;
      } catch {
        return false;
      }
    },
    { what: 'the lock of the data directory to be free' },
  );
  return () => lock.close();
}

function openSockets(pid: number): Set<string> {
  const inodes = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
    } catch {
      return undefined;
    }
  });
  return new Set(inodes.filter((inode) => inode !== undefined));
}

/** Returns the listening sockets in a table of `/proc/net`: those in the state `0A` (LISTEN). */
function tcpListeners(table: string): { port: number; inode: string }[] {
  return rows(table)
    .filter((row) => row[3] === '0A')
    .map((row) => ({ port: Number.parseInt(row[1]?.split(':')[1] ?? '', 16), inode: row[9] ?? '' }));
}

function unixListeners(): { path: string; inode: string }[] {
  return rows('/proc/net/unix')
    .filter((row) => row[7] !== undefined)
    .map((row) => ({ path: row[7]!, inode: row[6] ?? '' }));
}

function rows(table: string): string[][] {
  const [, ...lines] = readFileSync(table, 'utf8').trim().split('\n');
  return lines.map((line) => line.trim().split(/\s+/));
}
