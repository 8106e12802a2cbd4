import type { Parley } from './parley.js';
import type { TestDatabase } from './postgres.js';
import type { InnerReplica } from './replica.js';
import { metric } from './service-metrics.js';
import { until } from './until.js';

/** The Tasks that the replica claims and does not execute. */
export async function idleClaims(server: TestDatabase, replica: InnerReplica): Promise<string[]> {
  const { replicaId } = replica.life;
  const rows = await server.query<{ task_id: string }>('SELECT task_id FROM task WHERE replica_id = $1', [replicaId]);
  return rows.map((row) => row.task_id).filter((taskId) => !replica.registry.has(taskId));
}

/** The parked Tasks whose time came so many seconds ago, and that nobody executes. */
export async function asleepThoughDue(query: TestDatabase['query'], seconds = 0): Promise<string[]> {
  const rows = await query<{ task_id: string }>(
    `SELECT task_id FROM task WHERE wake_at <= now() - $1 * interval '1 second' AND replica_id IS NULL AND state NOT IN
       ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED') ORDER BY wake_at`,
    [seconds],
  );
  return rows.map((row) => row.task_id);
}

/** A Task that is claimed. */
export interface Claimed {
  taskId: string;
  agent: string;
  replicaId: string;
}

/**
 * The claims of all replicas, where no more of them can be executed than all replicas together execute; none where each
 * may have its executor. To be asked when nothing new is begun.
 */
export async function claimsWithoutExecutor(
  query: TestDatabase['query'],
  replicas: readonly Pick<Parley, 'url'>[],
): Promise<Claimed[]> {
  const claims = await query<Claimed & Record<string, unknown>>(
    'SELECT task_id AS "taskId", agent, replica_id AS "replicaId" FROM task WHERE replica_id IS NOT NULL ORDER BY 1',
  );
  const executed = await Promise.all(replicas.map((replica) => metric(replica, 'parley_executions')));
  return claims.length > executed.reduce((sum, one) => sum + one, 0) ? claims : [];
}

/** Sweeps until the replica executes whatever it claims, and nothing sleeps that is due. */
export async function takenUp(server: TestDatabase, replica: InnerReplica): Promise<void> {
  const sweep = async (): Promise<boolean> => {
    await replica.recovery.sweepOnce().catch(() => undefined);
    const [idle, asleep] = [await idleClaims(server, replica), await asleepThoughDue(server.query)];
    return idle.length === 0 && asleep.length === 0;
  };
  await until(sweep, { what: 'every claim to be executed or let go, and what is due to be woken' });
}
