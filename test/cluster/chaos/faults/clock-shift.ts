import { SHIFTS_MS } from '../trial-replicas.js';
import type { FaultKind } from './fault-kind.js';

/** Shifts the clock of a replica, until it is shifted again. */
export const CLOCK_SHIFT: FaultKind = {
  name: 'clock',
  share: 8,
  draw: (random) => {
    const shiftMs = random.pick([...SHIFTS_MS, 0]);
    return {
      title: `clock of a replica set to ${shiftMs} ms off`,
      cause: ({ replicas }, target) => {
        replicas.clockOf(replicas.awake(target))?.shift(shiftMs);
        return Promise.resolve(true);
      },
    };
  },
};
