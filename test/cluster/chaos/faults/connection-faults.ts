import type { FaultKind } from './fault-kind.js';

/** Makes the balancer drop each open connection with some probability. */
export const CUT: FaultKind = {
  name: 'cut',
  share: 16,
  draw: (random) => {
    const probability = 0.3 + random.next() * 0.7;
    return {
      title: `cut ${Math.round(probability * 100)} % of the connections`,
      cause: ({ replicas }) => {
        replicas.cluster.balancer.cut(probability);
        return Promise.resolve(true);
      },
    };
  },
};

/** Makes PostgreSQL end every session of a replica. */
export const SESSIONS: FaultKind = {
  name: 'sessions',
  share: 8,
  draw: () => ({
    title: 'sessions',
    cause: async ({ replicas }, target) => {
      const victim = replicas.awake(target);
      replicas.noteSessionsLost(victim);
      await replicas.cluster.database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = $1 OR application_name LIKE $1 || ':%'`,
        [`parley:${victim.pid}`],
      );
      return true;
    },
  }),
};
