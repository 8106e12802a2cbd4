import { setTimeout as delay } from 'node:timers/promises';
import { type FaultKind, lasting } from './fault-kind.js';

/** Kills a replica by SIGKILL; a new one starts at once. */
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

/** Terminates a replica by SIGTERM, after a new one has started. */
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

/**
 * Suspends a replica (SIGSTOP) and resumes it later (SIGCONT). Half of them resume before their claims may be taken
 * over, half after.
 */
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
