import { setTimeout as delay } from 'node:timers/promises';
import { type Database, type ReplicaLife, livenessCheckBy } from '#libs/postgres';
import type { JobPurpose } from './job.js';

const RETRY_MS = 500;
/** Seconds after which a worker is certain to know that it took a job. */
const KNOWN_SECONDS = 5;

/** Names under which replicas take jobs. Without them, the queue would hold the jobs of a dead worker for hours. */
export class JobWorkers {
  /** Newest worker of each purpose. */
  private readonly newest = new Map<JobPurpose, string>();

  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaLife,
  ) {}

  /**
   * Registers a worker, so that its jobs are freed if this replica dies. Also frees jobs left by earlier workers of
   * this replica. Retries until it succeeds or the signal aborts.
   */
  async registerWorker(purpose: JobPurpose, workerId: string, signal: AbortSignal): Promise<void> {
    this.newest.set(purpose, workerId);
    while (!signal.aborted) {
      try {
        await this.database.pool.query(REGISTER, [workerId, this.replica.replicaId]);
        await this.database.pool.query(FREE_OWN, [this.replica.replicaId, [...this.newest.values()]]);
        return;
      } catch {
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** Returns the jobs of a replica to the queue if the replica is dead at this moment; otherwise does nothing. */
  async freeDead(replicaId: string): Promise<void> {
    await this.database.pool.query(FREE_DEAD, [this.replica.replicaId, replicaId]);
  }

  /** Returns jobs to the queue that a worker took a while ago but is not running, without counting the attempt. */
  async freeUnheld(workerId: string, underWay: readonly string[]): Promise<void> {
    await this.database.pool.query(FREE_UNHELD, [workerId, underWay]);
  }

  /** Deletes the workers of forgotten replicas after a day. A frozen replica may come back before that. */
  async forgetOld(): Promise<void> {
    await this.database.pool.query(FORGET);
  }
}

const REGISTER = `
  INSERT INTO job_worker (worker_id, replica_id) VALUES ($1, $2) ON CONFLICT (worker_id) DO NOTHING`;

const FREE_OWN = `
  SELECT graphile_worker.force_unlock_workers(array_agg(worker_id))
  FROM job_worker WHERE replica_id = $1 AND worker_id <> ALL($2::text[])`;

const LIVENESS = livenessCheckBy('$1');

const FREE_DEAD = `
  WITH ${LIVENESS.withs}
  SELECT graphile_worker.force_unlock_workers(array_agg(worker_id))
  FROM job_worker WHERE replica_id IN (${LIVENESS.selectGone('ARRAY[$2]')})`;

const FREE_UNHELD = `
  WITH unheld AS (
    UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL, attempts = attempts - 1
    WHERE locked_by = $1 AND locked_at < now() - interval '${KNOWN_SECONDS} seconds' AND id <> ALL($2::bigint[])
    RETURNING job_queue_id
  )
  UPDATE graphile_worker._private_job_queues AS queue SET locked_at = NULL, locked_by = NULL
  FROM unheld WHERE queue.id = unheld.job_queue_id AND queue.locked_by = $1`;

const FORGET = `
  DELETE FROM job_worker WHERE registered_at < now() - interval '1 day'
    AND NOT EXISTS (SELECT FROM replica WHERE replica.id = job_worker.replica_id)`;
