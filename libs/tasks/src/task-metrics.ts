import { Injectable } from '@nestjs/common';
import type { TaskState } from '#libs/protocol';
import { Metrics } from '#libs/service';

/** Prometheus metrics of Tasks. */
@Injectable()
export class TaskMetrics {
  private readonly states;
  private readonly size;
  private readonly latency;
  private readonly refused;
  private readonly full;

  constructor(private readonly metrics: Metrics) {
    const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256];
    this.states = metrics.counter('parley_tasks_total', 'Tasks that reached a state, as committed by this replica', [
      'state',
    ]);
    this.size = metrics.histogram('parley_journal_batch_tasks', 'Tasks written by one journal batch', [], sizes);
    this.latency = metrics.histogram('parley_journal_batch_seconds', 'From the statement of a batch to its commit');
    this.refused = metrics.counter(
      'parley_journal_refused_total',
      'Writes that came too late: another replica had taken the task over',
    );
    this.full = metrics.counter(
      'parley_tasks_nearly_full_total',
      'Tasks whose log has passed three quarters of TASK_LIMIT, each counted once',
    );
  }

  /** Counts a Task whose log has passed three quarters of TASK_LIMIT. */
  nearlyFull(): void {
    this.full.inc();
  }

  /** Registers gauges of the journal, which are read at every scrape. */
  watchJournal(journal: { seconds(): number; bytes(): number; setAside(): number }): void {
    const age = 'For how long nothing was written although something waits';
    this.metrics.gauge('parley_journal_stall_seconds', age, [], () => journal.seconds());
    this.metrics.gauge('parley_journal_bytes', 'Bytes of events that are not yet durable', [], () => journal.bytes());
    const setAside = 'Tasks whose events cannot be written although others can';
    this.metrics.gauge('parley_journal_set_aside_tasks', setAside, [], () => journal.setAside());
  }

  /** Counts a Task that a commit left in a state. */
  countReached(state: TaskState): void {
    this.states.inc({ state });
  }

  /** Counts a fenced write: another replica has the claim. */
  writeRefused(): void {
    this.refused.inc();
  }

  /** Observes a batch. @param seconds from the start of the statement to its commit */
  batchWritten(tasks: number, seconds: number): void {
    this.size.observe(tasks);
    this.latency.observe(seconds);
  }
}
