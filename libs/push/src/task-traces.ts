import { readTraceContext, type TraceHeaders } from '#libs/service';
import { begunTask, type RecordedEvent, type TaskStore } from '#libs/tasks';
import { type Tracing, turnKey } from '#libs/tracing';

/** Maximum number of Tasks with cached traces. */
const MOST_KEPT = 1_000;

/** Traces of Tasks whose events are sent: the first event of each Task is read once. */
export class TaskTraces {
  private readonly kept = new Map<string, TraceHeaders>();

  constructor(
    private readonly tasks: Pick<TaskStore, 'readEvents'>,
    private readonly tracing: Pick<Tracing, 'traceTurn'>,
  ) {}

  /** Returns the trace headers of a notification: its parent is the Task's first turn. */
  async traceHeadersOf({ taskId, sequence, event }: RecordedEvent): Promise<TraceHeaders> {
    const known = this.kept.get(taskId);
    if (known) return known;
    const task = sequence === 1 && 'task' in event ? event.task : await begunTask(this.tasks, taskId);
    const { traceparent, tracestate } = task?.metadata ?? {};
    const parent = readTraceContext(traceparent, tracestate);
    const headers =
      this.tracing.traceTurn({ taskId, began: 1, ...(parent && { parent }) })?.headersBelow(...turnKey(1)) ?? {};
    if (this.kept.size >= MOST_KEPT) this.kept.delete(this.kept.keys().next().value!);
    this.kept.set(taskId, headers);
    return headers;
  }
}
