import { asleepThoughDue, claimsWithoutExecutor } from '../../support/idle-claims.js';
import type { ReplicaCluster } from '../../support/replica-cluster.js';
import { type StoredLog, storedLogs } from '../../support/stored-log.js';

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/**
 * SQL that finds Tasks without an owner that nothing will wake. It is a single statement, so that nothing changes
 * during the check. A Task with a pending cancel needs no job.
 */
const FORSAKEN = `
  SELECT task_id AS id, wake_at IS NOT NULL AS parked FROM task
  WHERE replica_id IS NULL AND state NOT IN ${ENDED}
    AND (wake_at IS NULL AND state IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING')
      OR wake_at IS NOT NULL AND cancel_requested_at IS NULL
        AND NOT EXISTS (SELECT FROM graphile_worker.jobs WHERE key = 'tasks.wake/' || task_id AND attempts < max_attempts))`;

/** SQL that finds what ended Tasks should not have left: open questions, and jobs that would wake them. */
const LEFT = `
  SELECT 'a question of task ' || task_id || ', which has ended' AS what FROM task_question JOIN task USING (task_id)
  WHERE state IN ${ENDED}
  UNION ALL
  SELECT 'a job for ' || run_at || ' of task ' || task_id || ', which has ended' FROM graphile_worker.jobs
    JOIN task ON key = 'tasks.wake/' || task_id WHERE state IN ${ENDED} AND run_at > now() + interval '1 minute'
  UNION ALL
  SELECT 'task ' || task_id || ' (' || agent || ') is ' || state FROM task WHERE state NOT IN ${ENDED}`;

type Cluster = Pick<ReplicaCluster, 'database' | 'replicas'>;

/** Returns the sleeping Tasks that nothing will wake, while runs are active. */
export async function forsaken({ database }: Pick<Cluster, 'database'>): Promise<string[]> {
  const rows = await database.query<{ id: string; parked: boolean }>(FORSAKEN);
  return rows.map(({ id, parked }) => (parked ? `task ${id} is parked without a job` : `task ${id} is nobody's`));
}

/** Returns what the database should not contain, or lacks, when every run has ended. */
export async function leftBehind({ database: { query }, replicas }: Cluster): Promise<string[]> {
  const left = await query<{ what: string }>(LEFT);
  const claims = await claimsWithoutExecutor(query, replicas);
  return [
    ...left.map(({ what }) => what),
    ...claims.map(({ taskId, agent }) => `task ${taskId} (${agent}) is claimed and not executed`),
    ...(await asleepThoughDue(query)).map((taskId) => `task ${taskId} is due and asleep`),
  ];
}

/** Returns the logs of a run and of all Tasks that were created for it. */
export async function logsOf({ database: { query } }: Pick<Cluster, 'database'>, runId: string): Promise<StoredLog[]> {
  const rows = await query<{ id: string }>(
    `WITH RECURSIVE tree (id) AS (
       SELECT task_id FROM task WHERE task_id = $1
       UNION ALL SELECT task_id FROM task JOIN tree ON parent_task_id = tree.id
     ) SELECT id FROM tree`,
    [runId],
  );
  return storedLogs(
    query,
    rows.map(({ id }) => id),
  );
}
