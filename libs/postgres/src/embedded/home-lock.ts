import { readFileSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { ensurePrivate } from './private-file.js';

const RETRY_MS = 40;
const SQLITE_BUSY = 5;

/**
 * Runs `work` while no other process (nor other caller in this one) does so with the same lock file. The lock is that
 * of a writer to an empty SQLite file: Node has no flock, and this one too is the kernel's, so it falls the moment its
 * holder dies and can never be stale. Whoever only reads the file (a backup, a curious mind) holds nobody up. Rejects
 * after `waitMs` without it, and says who holds it where the system tells.
 */
export async function withHomeLock<T>(lockFile: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  // Never opened besides: this process would lose a lock that it holds with the first descriptor that it closes.
  ensurePrivate(lockFile);
  const lock = new DatabaseSync(lockFile);
  try {
    const deadline = Date.now() + waitMs;
    while (!tryLock(lock)) {
      if (Date.now() > deadline) throw new Error(`${holders(lockFile)} held ${lockFile} for more than ${waitMs} ms`);
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

/** As Linux lists them: `1: POSIX  ADVISORY  WRITE 4711 08:01:131 0 EOF`. */
function holders(lockFile: string): string {
  try {
    const { ino } = statSync(lockFile);
    const lines = readFileSync('/proc/locks', 'utf8').split('\n');
    const held = lines.map((line) => line.trim().split(/\s+/)).filter((words) => words[5]?.endsWith(`:${ino}`));
    const pids = [...new Set(held.map((words) => words[4]))];
    if (pids.length > 0) return `Another process (pid ${pids.join(', ')}) has`;
  } catch {
    // Only Linux has such a list.
  }
  return 'Another process has';
}
