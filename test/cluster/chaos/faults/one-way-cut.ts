import { setTimeout as delay } from 'node:timers/promises';
import type { Direction } from '../../../support/one-way-relay.js';
import type { FaultKind } from './fault-kind.js';

const NAMES = { database: 'the database', callers: 'its callers' } as const;
const PLACES = Object.keys(NAMES) as (keyof typeof NAMES)[];
const DIRECTIONS: Direction[] = ['there', 'back'];

/**
 * Loses everything in one direction, either between a replica and the database, or between the replica and its callers
 * (clients and, through the balancer, other replicas). Afterwards half of the connections are reset, and half continue.
 */
export const ONE_WAY_CUT: FaultKind = {
  name: 'one-way',
  share: 8,
  beside: true,
  draw: (random) => {
    const place = random.pick(PLACES);
    const direction = random.pick(DIRECTIONS);
    const seconds = random.between(1, 20);
    const isForgotten = random.next() < 0.5;
    // A replica connects to the database, and callers connect to a replica.
    const fromReplica = (place === 'database') === (direction === 'there');
    const way = fromReplica ? `from a replica to ${NAMES[place]}` : `from ${NAMES[place]} to a replica`;
    return {
      title: `nothing passes ${way} for ${seconds} s${isForgotten ? ', then connections end' : ''}`,
      cause: ({ replicas }, target) =>
        replicas.disturb(target, async (victim) => {
          const link = replicas.linksOf(victim)?.[place];
          await link?.cut(direction);
          await delay(seconds * 1000);
          if (isForgotten) await link?.reset();
          await link?.mend();
        }),
    };
  },
};
