import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { postmasters } from './parley.js';

/** What Linux shows of the database server that runs in a folder. */
export interface Postmaster {
  pid: number;
  /** The account and the group that it runs as. */
  uid: number;
  gid: number;
  /** The numbers of its open files. */
  files: string[];
  /** TCP ports that it listens on. */
  ports: number[];
  /** Unix sockets that it listens on, by their paths. */
  sockets: string[];
}

/** The one database server of a folder; throws where there is none. */
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

/** State `0A` is LISTEN. */
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
