import { Injectable } from '@nestjs/common';
import type { TaskState } from '#libs/protocol';
import { AppConfig, BoundedLabel, type FactPayloads, Metrics, OnFact } from '#libs/service';
import { TaskCounts } from '#libs/tasks';
import { runStatus } from '../run-state.js';
import { isRun, workflowOf } from './run-task.js';

/** Seconds: a run may be a millisecond's work, or wait for a person. */
const DURATIONS = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400];
/** Names of workflows that are told apart. */
const MOST_WORKFLOWS = 200;

/**
 * What runs tell Prometheus. A run is counted by the replica that ends it, when that is durable. What a `workflow` node
 * runs is counted as that node. Whoever reads the metrics needs no credentials, so workflows are named only where
 * METRICS_WORKFLOWS says so; all of them are `other` elsewhere.
 */
@Injectable()
export class RunMetrics {
  private last: Record<string, number> = {};
  private readonly workflows;
  private readonly runs;
  private readonly durations;

  constructor(
    metrics: Metrics,
    private readonly counts: TaskCounts,
    config: AppConfig,
  ) {
    this.workflows = new BoundedLabel(config.metricsWorkflows ? MOST_WORKFLOWS : 0);
    const help = 'Runs of all replicas that nobody works on: they wait for an answer, or for a time';
    metrics.gauge('parley_runs_waiting', help, ['reason'], () => this.waiting());
    const labels = ['workflow', 'outcome'] as const;
    this.runs = metrics.counter('parley_runs_total', 'Runs that this replica has ended', labels);
    this.durations = metrics.histogram(
      'parley_run_duration_seconds',
      'From the start of a run to its end, with all that it waited for; of runs that this replica has ended',
      labels,
      DURATIONS,
    );
  }

  @OnFact('task.settled')
  countEnded(task: FactPayloads['task.settled']): void {
    if (!isRun(task)) return;
    const outcome = runStatus(task.state as TaskState);
    const labels = { workflow: this.workflows.of(workflowOf(task)), outcome };
    this.runs.inc(labels);
    this.durations.observe(labels, Math.max(0, task.settledAt.getTime() - task.createdAt.getTime()) / 1000);
  }

  /** The last known numbers while the database is out of reach, which the readiness check tells. */
  private async waiting(): Promise<Record<string, number>> {
    this.last = await this.counts.waiting('workflows/*').catch(() => this.last);
    return this.last;
  }
}
