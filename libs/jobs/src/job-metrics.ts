import type { Metrics } from '#libs/service';

export type JobOutcome = 'done' | 'retried' | 'failed' | 'interrupted';

/** Prometheus metrics of jobs. */
export class JobMetrics {
  private readonly attempts;

  /** @param waiting returns the number of waiting jobs of all replicas */
  constructor(metrics: Metrics, waiting: () => Promise<number>) {
    this.attempts = metrics.counter('parley_jobs_total', 'Attempts at jobs in this replica, by what came of them', [
      'job',
      'outcome',
    ]);
    metrics.gauge('parley_jobs_waiting', 'Jobs of all replicas that are due or wait for their time', [], waiting);
  }

  /** Counts the end of an attempt at a job. */
  countAttempt(job: string, outcome: JobOutcome): void {
    this.attempts.inc({ job, outcome });
  }
}
