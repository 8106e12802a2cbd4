import type { FaultKind } from './fault-kind.js';

/** Replaces a replica by one of the other version, as a deployment that rolls forward and back does. */
export const VERSION_CHANGE: FaultKind = {
  name: 'mixed',
  share: 6,
  draw: () => ({
    title: 'a replica is replaced by one of the other version',
    cause: async ({ replicas }, target) => {
      const victim = replicas.awake(target);
      replicas.chooseVersion(!replicas.isEarlier(victim));
      await replicas.start();
      await replicas.retire(victim);
      return true;
    },
  }),
};
