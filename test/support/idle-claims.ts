import type { Parley } from './parley.js';
import type { TestDatabase } from './postgres.js';
import type { InnerReplica } from './replica.js';
import { metric } from './service-metrics.js';
import { until } from './until.js';

/** Returns the Tasks that a replica claims but does not execute. */
export async function idleClaims(server: TestDatabase, replica: InnerReplica): Promise<string[]> {
  const { replicaId } = replica.life;
  const rows = await server.query<{ task_id: string }>('SELECT task_id FROM task WHERE replica_id = $1', [replicaId]);
  return rows.map((row) => row.task_id).filter((taskId) => !replica.registry.has(taskId));
}

/** Returns the parked Tasks that were due so many seconds ago and that no replica executes. */
export async function asleepThoughDue(query: TestDatabase['query'], seconds = 0): Promise<string[]> {
  const rows = await query<{ task_id: string }>(
    `SELECT task_id FROM task WHERE wake_at <= now() - $1 * interval '1 second' AND replica_id IS NULL AND state NOT IN
       ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED') ORDER BY wake_at`,
    [seconds],
  );
  return rows.map((row) => row.task_id);
}

/** Task that a replica has claimed. */
export interface Claimed {
  taskId: string;
  agent: string;
  replicaId: string;
}

/**
 * Returns the claims of all replicas if there are more claims than executions, since some claim then has no executor;
 * otherwise an empty list. Call it when no new work begins.
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

/** Sweeps until the replica executes every Task that it claims, and no due Task is parked. */
export async function takenUp(server: TestDatabase, replica: InnerReplica): Promise<void> {
  const sweep = async (): Promise<boolean> => {
    await replica.recovery.sweepOnce().catch(() => undefined);
    const [idle, asleep] = [await idleClaims(server, replica), await asleepThoughDue(server.query)];
    return idle.length === 0 && asleep.length === 0;
  };
  await until(sweep, { what: 'every claim to be executed or let go, and what is due to be woken' });
}
