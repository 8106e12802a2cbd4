import { Injectable } from '@nestjs/common';
import { Metrics } from '#libs/platform';
import type { TaskState } from '#libs/protocol';

/** What Tasks tell Prometheus. */
@Injectable()
export class TaskMetrics {
  private readonly states;
  private readonly size;
  private readonly latency;

  constructor(metrics: Metrics) {
    const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256];
    this.states = metrics.counter('parley_tasks_total', 'Tasks that reached a state, as committed by this replica', [
      'state',
    ]);
    this.size = metrics.histogram('parley_journal_batch_tasks', 'Tasks written by one journal batch', [], sizes);
    this.latency = metrics.histogram('parley_journal_batch_seconds', 'From the statement of a batch to its commit');
  }

  /** A commit left a Task in this state. */
  reached(state: TaskState): void {
    this.states.inc({ state });
  }

  /** @param seconds from the start of the statement to its commit */
  batchWritten(tasks: number, seconds: number): void {
    this.size.observe(tasks);
    this.latency.observe(seconds);
  }
}
