import type { Metrics } from '#libs/service';
import { runEventNote } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { RunFacts } from './run-facts.js';

/** Outcome label by the step that ends a node. */
const OUTCOMES: Readonly<Record<string, string>> = {
  'node.completed': 'completed',
  'node.error': 'failed',
  'node.canceled': 'canceled',
};

/** Measures the duration of nodes from the start of their last attempt to their end, for runs of this replica. */
export class NodeMetrics {
  private readonly durations;

  constructor(metrics: Metrics) {
    this.durations = metrics.histogram(
      'parley_node_duration_seconds',
      "From the start of a node's last attempt to its end, with all that it waited for; of runs of this replica",
      ['type', 'outcome'],
    );
  }

  /** Observes an event of a run. Call it for every recorded event, after the run has applied it. */
  observeEvent(event: TaskEvent, run: Pick<RunFacts, 'findInstance'>): void {
    if ('task' in event) return;
    const note = runEventNote('statusUpdate' in event ? event.statusUpdate.metadata : event.artifactUpdate.metadata);
    if (note?.node_id === undefined) return;
    const outcome = OUTCOMES[note.type];
    if (outcome === undefined) return;
    const { type, startedAt, finishedAt } = run.findInstance(note.instance ?? note.node_id) ?? {};
    if (type === undefined || startedAt === undefined || finishedAt === undefined) return;
    this.durations.observe({ type, outcome }, Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)) / 1000);
  }
}
