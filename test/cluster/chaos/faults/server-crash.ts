import { setTimeout as delay } from 'node:timers/promises';
import { type FaultKind, lasting } from './fault-kind.js';
import { aloneOnServer } from './server-faults.js';

/** Crashes PostgreSQL, and starts it again up to three seconds later. */
export const SERVER_CRASH: FaultKind = {
  name: 'database',
  share: 6,
  draw: (random) => {
    const seconds = random.next() * 3;
    return {
      title: lasting('database', seconds),
      cause: (stage) =>
        aloneOnServer(stage, async (postgres) => {
          await postgres.crash();
          await delay(seconds * 1000);
          await postgres.restart();
        }),
    };
  },
};
