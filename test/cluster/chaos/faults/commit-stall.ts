import { setTimeout as delay } from 'node:timers/promises';
import { letCommit, stallCommits } from '../../../support/commit-stall.js';
import { type FaultKind, lasting } from './fault-kind.js';
import { untilTold } from './server-faults.js';

/** Makes every commit wait for a standby that does not exist. Sessions stay open, and reads are answered. */
export const COMMIT_STALL: FaultKind = {
  name: 'stall',
  share: 6,
  beside: true,
  draw: (random) => {
    const seconds = random.between(3, 30);
    return {
      title: lasting('stall of all commits', seconds),
      cause: async ({ postgres }) => {
        if (postgres === undefined || stalled.has(postgres)) return false;
        stalled.add(postgres);
        await untilTold(() => stallCommits(postgres.url));
        await delay(seconds * 1000);
        await untilTold(() => letCommit(postgres.url));
        stalled.delete(postgres);
        return true;
      },
    };
  },
};

const stalled = new WeakSet<object>();
