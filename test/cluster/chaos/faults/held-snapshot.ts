import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type FaultKind, lasting } from './fault-kind.js';

/** Keeps the snapshot of a transaction open, as a backup does, so that no dead row can be removed. */
export const HELD_SNAPSHOT: FaultKind = {
  name: 'snapshot',
  share: 4,
  beside: true,
  draw: (random) => {
    const seconds = random.between(10, 60);
    return {
      title: lasting('a held snapshot', seconds),
      cause: async ({ replicas }) => {
        const session = new pg.Client({ connectionString: replicas.cluster.database.url });
        const lost = new Promise<void>((resolve) => session.on('error', () => resolve()));
        try {
          await session.connect();
          await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT count(*) FROM task');
          await Promise.race([delay(seconds * 1000), lost]);
          return true;
        } catch {
          // The server is down, or goes down: a snapshot ends with its session.
          return false;
        } finally {
          await session.end().catch(() => undefined);
        }
      },
    };
  },
};
