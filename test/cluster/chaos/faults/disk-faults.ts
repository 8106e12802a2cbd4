import { setTimeout as delay } from 'node:timers/promises';
import type { OwnPostgres } from '../../../support/own-postgres.js';
import { type FaultKind, lasting } from './fault-kind.js';
import { aloneOnServer, toldInSession, untilTold } from './server-faults.js';

/** Settings of a server whose disk can be slowed: PostgreSQL pauses only before a flush, so flushes must be on. */
export const SLOWABLE = ['fsync=on'];
/** Additional microseconds of each flush of the write-ahead log: the maximum that PostgreSQL allows. */
const FLUSH_PAUSE = 100_000;

/**
 * Fills the disk of PostgreSQL. Statements that need more space fail (53100). If the write-ahead log needs more,
 * PostgreSQL ends, again and again, until there is space.
 */
export const DISK_FULL: FaultKind = {
  name: 'disk-full',
  share: 4,
  draw: (random) => {
    const seconds = random.between(1, 8);
    const isLogFull = random.next() < 0.5;
    return {
      title: lasting(isLogFull ? 'a disk that is full for the log as well' : 'a full disk', seconds),
      cause: (stage) =>
        aloneOnServer(stage, async (postgres) => {
          await postgres.fillDisk();
          // The next segment has no room: the server ends when it is written.
          if (isLogFull) await toldInSession(postgres, 'SELECT pg_switch_wal()').catch(() => undefined);
          await delay(seconds * 1000);
          await postgres.freeDisk();
          await untilTold(() => toldInSession(postgres, 'SELECT 1'));
        }),
    };
  },
};

/**
 * Slows the disk of PostgreSQL: each flush of the write-ahead log takes a tenth of a second longer, and from time to
 * time the disk stops responding, so that the whole server stands still.
 */
export const SLOW_DISK: FaultKind = {
  name: 'slow-disk',
  share: 4,
  beside: true,
  draw: (random) => {
    const pauses = Array.from({ length: random.between(2, 6) }, () => ({
      works: random.between(500, 2_500),
      hangs: random.between(100, 3_000),
    }));
    const ms = pauses.reduce((sum, { works, hangs }) => sum + works + hangs, 0);
    return {
      title: `${lasting('a slow disk', ms / 1000)}, which hangs ${pauses.length} times`,
      cause: (stage) =>
        aloneOnServer(stage, async (postgres) => {
          await pauseFlushes(postgres, FLUSH_PAUSE);
          for (const { works, hangs } of pauses) {
            await delay(works);
            await postgres.hang();
            await delay(hangs);
            await postgres.goOn();
          }
          await pauseFlushes(postgres, 0);
        }),
    };
  },
};

function pauseFlushes(postgres: OwnPostgres, microseconds: number): Promise<void> {
  return untilTold(() =>
    toldInSession(
      postgres,
      'ALTER SYSTEM SET commit_siblings = 0',
      `ALTER SYSTEM SET commit_delay = ${microseconds}`,
      'SELECT pg_reload_conf()',
    ),
  );
}
