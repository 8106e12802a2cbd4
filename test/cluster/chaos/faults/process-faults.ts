import { setTimeout as delay } from 'node:timers/promises';
import { type FaultKind, lasting } from './fault-kind.js';

/** `kill -9` of a replica; a new one starts at once. */
export const KILL: FaultKind = {
  name: 'kill',
  share: 24,
  draw: () => ({
    title: 'kill',
    cause: async ({ replicas }, target) => {
      await replicas.kill(replicas.awake(target));
      await replicas.start();
      return true;
    },
  }),
};

/** SIGTERM of a replica, after a new one has started. */
export const TERMINATE: FaultKind = {
  name: 'terminate',
  share: 7,
  draw: () => ({
    title: 'terminate',
    cause: async ({ replicas }, target) => {
      const victim = replicas.awake(target);
      await replicas.start();
      await replicas.retire(victim);
      return true;
    },
  }),
};

/** SIGSTOP of a replica, and SIGCONT later. Half of the frozen wake before their claims may be taken, half after. */
export const FREEZE: FaultKind = {
  name: 'freeze',
  share: 11,
  beside: true,
  draw: (random) => {
    const seconds = random.between(2, 16);
    return {
      title: lasting('freeze', seconds),
      cause: ({ replicas }, target) =>
        replicas.disturb(target, async (victim) => {
          victim.freeze();
          await delay(seconds * 1000);
          victim.thaw();
        }),
    };
  },
};
