import { setTimeout as delay } from 'node:timers/promises';
import { type Database, type ReplicaLife, livenessCheckBy } from '#libs/postgres';
import type { JobPurpose } from './job.js';

const RETRY_MS = 500;
/** So long after a job was taken its worker knows it. */
const KNOWN_SECONDS = 5;

/** Which replica takes jobs under which name: what the queue calls a worker holds its jobs for hours after its death. */
export class JobWorkers {
  /** The newest worker of each purpose. */
  private readonly newest = new Map<JobPurpose, string>();

  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaLife,
  ) {}

  /**
   * Resolves when the worker's jobs will be freed should this replica die; tries until then, or until the signal. Frees
   * what earlier workers of this replica have left.
   */
  async register(purpose: JobPurpose, workerId: string, signal: AbortSignal): Promise<void> {
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

  /** Gives the jobs of a replica that is dead at this moment back to the queue; otherwise nothing. */
  async freeDead(replicaId: string): Promise<void> {
    await this.database.pool.query(FREE_DEAD, [this.replica.replicaId, replicaId]);
  }

  /** Gives the jobs back to the queue that a worker took a while ago and does not work at, as if they had not been tried. */
  async freeUnheld(workerId: string, underWay: readonly string[]): Promise<void> {
    await this.database.pool.query(FREE_UNHELD, [workerId, underWay]);
  }

  /** Forgets the workers of replicas that went more than a day ago: one that was frozen may come back. */
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
  FROM job_worker WHERE replica_id IN (${LIVENESS.gone('ARRAY[$2]')})`;

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
