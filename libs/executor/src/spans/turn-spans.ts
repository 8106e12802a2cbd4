import { isWaitingState, type TaskState } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { Attributes, Span, SpanKind, TurnTrace } from '#libs/tracing';
import { noteOf, type SpanBegin, type SpanEnd, type SpanStep } from './span-step.js';

/** What a turn's span is called by. */
export interface TracedAgent {
  /** Its path below the service's A2A root. */
  path: string;
  operation: 'invoke_workflow' | 'invoke_agent';
  steps(event: TaskEvent): readonly SpanStep[];
}

interface OpenSpan {
  spanId: string;
  name: string;
  kind: SpanKind;
  begunAt: number;
  attributes: Attributes;
}

/** Beyond that the spans of a turn are counted and not kept. */
const MOST_SPANS = 5_000;
const FAILED: ReadonlySet<TaskState> = new Set(['TASK_STATE_FAILED', 'TASK_STATE_REJECTED']);

/**
 * The spans of one turn, folded from its events: the same events always give the same spans, in whichever process. Nothing
 * of what was said is in them.
 */
export class TurnSpans {
  private readonly open = new Map<string, OpenSpan>();
  private readonly over: Span[] = [];
  private leftOut = 0;
  private begunAt = Number.NaN;
  private at = Number.NaN;
  /** When the event before was recorded. */
  private before = Number.NaN;
  private state: TaskState | undefined;

  constructor(
    private readonly task: { taskId: string; contextId: string },
    private readonly agent: TracedAgent,
    private readonly trace: TurnTrace,
  ) {}

  /** Takes in the next event of the turn's log. */
  take(event: TaskEvent): void {
    const time = Date.parse(timeOf(event) ?? '');
    this.before = this.at;
    if (!Number.isNaN(time)) this.at = time;
    if (Number.isNaN(this.begunAt)) this.begunAt = this.before = this.at;
    if ('statusUpdate' in event) this.state = event.statusUpdate.status.state;
    for (const step of this.agent.steps(event)) {
      if ('begins' in step) this.begin(step.begins);
      else this.end(step.ends);
    }
  }

  /**
   * The spans of the turn, when it is over: its own first. What is still open ends with it.
   * @param link the turn before it
   */
  finish(link?: Span['link']): Span[] {
    const state = this.state;
    for (const slot of [...this.open.keys()])
      this.end({ slot, ...(state && !isWaitingState(state) && { attributes: { 'parley.unfinished': true } }) });
    return [this.own(link), ...this.over];
  }

  private own(link: Span['link']): Span {
    const { trace, task, agent, state } = this;
    const name = nameOf(agent.path);
    return {
      traceId: trace.traceId,
      spanId: trace.spanId,
      ...(trace.parentSpanId !== undefined && { parentSpanId: trace.parentSpanId }),
      ...(trace.state !== undefined && { state: trace.state }),
      name: `${agent.operation} ${name}`,
      kind: 'server',
      begunAt: this.begunAt,
      endedAt: this.at,
      attributes: {
        'gen_ai.operation.name': agent.operation,
        [agent.operation === 'invoke_workflow' ? 'gen_ai.workflow.name' : 'gen_ai.agent.name']: name,
        'gen_ai.conversation.id': task.contextId,
        'parley.task.id': task.taskId,
        ...(state && { 'parley.task.state': wordOf(state) }),
        ...(this.leftOut > 0 && { 'parley.spans.left_out': this.leftOut }),
      },
      ...(state && FAILED.has(state) && { error: wordOf(state) }),
      ...(link && { link }),
    };
  }

  private begin({ slot, key, name, kind, attributes, since }: SpanBegin): void {
    const spanId = this.trace.spanIdOf(...key);
    const open = this.open.get(slot);
    if (open?.spanId === spanId) return;
    if (open) this.end({ slot });
    const begunAt = since === 'before' ? this.before : this.at;
    if (this.over.length + this.open.size >= MOST_SPANS) this.leftOut += 1;
    else this.open.set(slot, { spanId, name, kind, begunAt, attributes });
  }

  private end({ slot, name, attributes, error }: SpanEnd): void {
    const span = this.open.get(slot);
    if (span === undefined) return;
    this.open.delete(slot);
    const { traceId, spanId: parentSpanId, state } = this.trace;
    this.over.push({
      ...span,
      name: name ?? span.name,
      traceId,
      parentSpanId,
      ...(state !== undefined && { state }),
      endedAt: this.at,
      attributes: { ...span.attributes, ...attributes },
      ...(error !== undefined && { error }),
    });
  }
}

function timeOf(event: TaskEvent): string | undefined {
  if ('task' in event) return event.task.status.timestamp;
  return 'statusUpdate' in event ? event.statusUpdate.status.timestamp : noteOf(event)?.timestamp;
}

/** `workflows/tea/nodes/cup` is `tea/cup`. */
function nameOf(path: string): string {
  return path.replace(/^workflows\//, '').replace('/nodes/', '/') || 'parley';
}

function wordOf(state: TaskState): string {
  return state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
}
