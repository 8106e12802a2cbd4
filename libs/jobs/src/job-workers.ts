import { setTimeout as delay } from 'node:timers/promises';
import type { Database, ReplicaLife } from '#libs/postgres';

const RETRY_MS = 500;

/** Which replica takes jobs under which name: what the queue calls a worker holds its jobs for hours after its death. */
export class JobWorkers {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaLife,
  ) {}

  /**
   * Resolves when the worker's jobs will be freed should this replica die; tries until then, or until the signal. Frees
   * what earlier workers of this replica have left.
   */
  async register(workerId: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.database.pool.query(REGISTER, [workerId, this.replica.replicaId]);
        return await this.free(this.replica.replicaId, workerId);
      } catch {
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** Gives the jobs of a replica that is gone back to the queue. */
  async free(replicaId: string, except = ''): Promise<void> {
    await this.database.pool.query(FREE, [replicaId, except]);
  }

  /** Forgets the workers of replicas that went more than a day ago: one that was frozen may come back. */
  async forgetOld(): Promise<void> {
    await this.database.pool.query(FORGET);
  }
}

const REGISTER = `
  INSERT INTO job_worker (worker_id, replica_id) VALUES ($1, $2) ON CONFLICT (worker_id) DO NOTHING`;

const FREE = `
  SELECT graphile_worker.force_unlock_workers(array_agg(worker_id))
  FROM job_worker WHERE replica_id = $1 AND worker_id <> $2`;

const FORGET = `
  DELETE FROM job_worker WHERE registered_at < now() - interval '1 day'
    AND NOT EXISTS (SELECT FROM replica WHERE replica.id = job_worker.replica_id)`;
