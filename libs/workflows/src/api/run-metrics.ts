import { Injectable, Logger } from '@nestjs/common';
import type { TaskState } from '#libs/protocol';
import { AppConfig, BoundedLabel, type FactPayloads, Metrics, OnFact } from '#libs/service';
import { TaskCounts } from '#libs/tasks';
import { isRun, runStatus, workflowOf } from '#libs/workflow-engine';

/** Reports failed runs to operators: a log line for each, and a counter by the kind of failure. */
@Injectable()
export class FailedRuns {
  private readonly logger = new Logger('Runs');
  private readonly failures;

  constructor(metrics: Metrics) {
    const description = 'Runs that failed, as committed by this replica, by the kind of the failure';
    this.failures = metrics.counter('parley_run_failures_total', description, ['kind']);
  }

  @OnFact('run.failed')
  countFailedRun({ kind = 'other' }: FactPayloads['run.failed']): void {
    this.failures.inc({ kind });
  }

  @OnFact('run.failed')
  logFailedRun({ runId, workflow, node, cause, traceId }: FactPayloads['run.failed']): void {
    const trace = traceId === undefined ? {} : { trace_id: traceId };
    this.logger.warn({ runId, workflow, ...(node !== undefined && { node }), cause, ...trace }, 'A run failed');
  }
}

/** Histogram buckets in seconds: from a run that takes milliseconds to a run that waits for a person. */
const DURATIONS = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400];
/** Maximum number of workflow names that get their own label value. */
const MOST_WORKFLOWS = 200;

/**
 * Prometheus metrics of runs.
 * - A run is counted by the replica that ends it, once its end is durable.
 * - The run of a `workflow` node counts as an execution of that node.
 * - Workflows are named only with METRICS_WORKFLOWS, because reading metrics needs no credentials; otherwise the label
 *   is `other`.
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
    metrics.gauge('parley_runs_waiting', help, ['reason'], () => this.countWaitingRuns());
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
    const labels = { workflow: this.workflows.boundValue(workflowOf(task)), outcome };
    this.runs.inc(labels);
    this.durations.observe(labels, Math.max(0, task.settledAt.getTime() - task.createdAt.getTime()) / 1000);
  }

  /**
   * Returns the number of waiting runs by reason. While the database is unreachable (which the readiness check
   * reports), returns the last known numbers.
   */
  private async countWaitingRuns(): Promise<Record<string, number>> {
    this.last = await this.counts.countWaiting('workflows/*').catch(() => this.last);
    return this.last;
  }
}
