import { readFileSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { ensurePrivate } from './cluster-home.js';

const RETRY_MS = 40;
const SQLITE_BUSY = 5;

/**
 * Executes `work` while no other process, and no other caller in this one, holds the same lock file. The lock is the
 * write lock of an empty SQLite file, since Node has no `flock`.
 * - The kernel releases the lock when its holder dies, so it can never be stale.
 * - Readers of the file, such as a backup, do not block the lock.
 * - The call rejects after `waitMs` without the lock, and names the holder if the system reports it.
 */
export async function withHomeLock<T>(lockFile: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  // The file is never opened otherwise: closing any descriptor of it would release this process's lock.
  ensurePrivate(lockFile);
  const lock = new DatabaseSync(lockFile);
  try {
    const deadline = Date.now() + waitMs;
    while (!tryLock(lock)) {
      if (Date.now() > deadline)
        throw new Error(`${describeHolders(lockFile)} held ${lockFile} for more than ${waitMs} ms`);
      await delay(RETRY_MS);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function tryLock(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}

/**
 * Returns the beginning of an error message about the holders of a lock file, such as "Another process (pid 4711) has",
 * which the caller completes. The pids come from Linux's list of locks (`/proc/locks`), with lines such as `1: POSIX
 * ADVISORY  WRITE 4711 08:01:131 0 EOF`; without that list the message names none.
 */
function describeHolders(lockFile: string): string {
  try {
    const { ino } = statSync(lockFile);
    const lines = readFileSync('/proc/locks', 'utf8').split('\n');
    const held = lines.map((line) => line.trim().split(/\s+/)).filter((words) => words[5]?.endsWith(`:${ino}`));
    const pids = [...new Set(held.map((words) => words[4]))];
    if (pids.length > 0) return `Another process (pid ${pids.join(', ')}) has`;
  } catch {
    // Other systems have no such list.
  }
  return 'Another process has';
}
