import { Injectable } from '@nestjs/common';
import { Metrics } from '#libs/service';
import { TaskCounts } from '#libs/tasks';

/** What runs tell Prometheus. */
@Injectable()
export class RunMetrics {
  private last: Record<string, number> = {};

  constructor(
    metrics: Metrics,
    private readonly counts: TaskCounts,
  ) {
    const help = 'Runs of all replicas that nobody works on: they wait for an answer, or for a time';
    metrics.gauge('parley_runs_waiting', help, ['reason'], () => this.waiting());
  }

  /** The last known numbers while the database is out of reach, which the readiness check tells. */
  private async waiting(): Promise<Record<string, number>> {
    this.last = await this.counts.waiting('workflows/*').catch(() => this.last);
    return this.last;
  }
}
