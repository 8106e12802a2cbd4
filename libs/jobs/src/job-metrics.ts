import type { Metrics } from '#libs/service';

export type JobOutcome = 'done' | 'retried' | 'failed' | 'interrupted';

/** What jobs tell Prometheus. */
export class JobMetrics {
  private readonly attempts;

  /** @param waiting how many jobs wait, for all replicas */
  constructor(metrics: Metrics, waiting: () => Promise<number>) {
    this.attempts = metrics.counter('parley_jobs_total', 'Attempts at jobs in this replica, by what came of them', [
      'job',
      'outcome',
    ]);
    metrics.gauge('parley_jobs_waiting', 'Jobs of all replicas that are due or wait for their time', [], waiting);
  }

  /** An attempt at a job has ended. */
  ended(job: string, outcome: JobOutcome): void {
    this.attempts.inc({ job, outcome });
  }
}
