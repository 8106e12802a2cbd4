import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

const RETRY_MS = 40;
const SQLITE_BUSY = 5;

/**
 * Runs `work` while no other process (nor other caller in this one) does so with the same lock file. The lock is an
 * exclusive transaction of an empty SQLite file: Node has no flock, and this one too is the kernel's, so it falls
 * the moment its holder dies and can never be stale. Rejects after `waitMs` without it.
 */
export async function withHomeLock<T>(lockFile: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const lock = new DatabaseSync(lockFile);
  try {
    const deadline = Date.now() + waitMs;
    while (!tryLock(lock)) {
      if (Date.now() > deadline) throw new Error(`Another process has held ${lockFile} for more than ${waitMs} ms`);
      await delay(RETRY_MS);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function tryLock(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
