import type { FaultKind } from './fault-kind.js';

/** A replica is replaced by one of the other version, as in a deployment that rolls forth and back. */
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
