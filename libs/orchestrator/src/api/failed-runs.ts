import { Injectable, Logger } from '@nestjs/common';
import { type FactPayloads, Metrics, OnFact } from '#libs/service';

/** Reports failed runs to operators: one log line for each, and a counter by the kind of failure. */
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
