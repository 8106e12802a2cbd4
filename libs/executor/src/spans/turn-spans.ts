import { isWaitingState, type TaskState } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { Attributes, Span, SpanKind, TurnTrace } from '#libs/tracing';
import { noteOf, type SpanBegin, type SpanEnd, type SpanStep } from './span-step.js';

/** Agent data for the span of a turn. */
export interface TracedAgent {
  /** Path below the service's A2A root. */
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

/** Maximum number of spans kept per turn; further ones are only counted. */
const MOST_SPANS = 5_000;
const FAILED: ReadonlySet<TaskState> = new Set(['TASK_STATE_FAILED', 'TASK_STATE_REJECTED']);

/**
 * Spans of one turn, folded from its events. The same events give the same spans in any process. Spans contain no
 * content of Messages or Artifacts.
 */
export class TurnSpans {
  private readonly open = new Map<string, OpenSpan>();
  private readonly over: Span[] = [];
  private leftOut = 0;
  /** Times as the log stores them, parsed only if a span needs them. */
  private begunAt: string | undefined;
  private at: string | undefined;
  /** Time of the previous event. */
  private before: string | undefined;
  private state: TaskState | undefined;

  constructor(
    private readonly task: { taskId: string; contextId: string },
    private readonly agent: TracedAgent,
    private readonly trace: TurnTrace,
  ) {}

  /** Adds the next event of the turn's log. */
  addEvent(event: TaskEvent): void {
    this.before = this.at;
    this.at = eventTime(event) ?? this.at;
    this.begunAt ??= this.before = this.at;
    if ('statusUpdate' in event) this.state = event.statusUpdate.status.state;
    for (const step of this.agent.steps(event)) {
      if ('begins' in step) this.beginSpan(step.begins);
      else this.endSpan(step.ends);
    }
  }

  /**
   * Ends the open spans and returns all spans of the turn, its own first.
   * @param link span of the previous turn
   */
  finishSpans(link?: Span['link']): Span[] {
    const state = this.state;
    for (const slot of this.open.keys())
      this.endSpan({ slot, ...(state && !isWaitingState(state) && { attributes: { 'parley.unfinished': true } }) });
    this.over.unshift(this.buildTurnSpan(link));
    return this.over;
  }

  private buildTurnSpan(link: Span['link']): Span {
    const { trace, task, agent, state } = this;
    const name = agentName(agent.path);
    const attributes: Attributes = {
      'gen_ai.operation.name': agent.operation,
      [agent.operation === 'invoke_workflow' ? 'gen_ai.workflow.name' : 'gen_ai.agent.name']: name,
      'gen_ai.conversation.id': task.contextId,
      'parley.task.id': task.taskId,
    };
    if (state) attributes['parley.task.state'] = wordOf(state);
    if (this.leftOut > 0) attributes['parley.spans.left_out'] = this.leftOut;
    return {
      traceId: trace.traceId,
      spanId: trace.spanId,
      parentSpanId: trace.parentSpanId,
      state: trace.state,
      name: `${agent.operation} ${name}`,
      kind: 'server',
      begunAt: millisecondsOf(this.begunAt),
      endedAt: millisecondsOf(this.at),
      attributes,
      error: state && FAILED.has(state) ? wordOf(state) : undefined,
      link,
    };
  }

  private beginSpan({ slot, key, name, kind, attributes, since }: SpanBegin): void {
    const spanId = this.trace.spanIdOf(...key);
    const open = this.open.get(slot);
    if (open?.spanId === spanId) return;
    if (open) this.endSpan({ slot });
    const begunAt = millisecondsOf(since === 'before' ? this.before : this.at);
    if (this.over.length + this.open.size >= MOST_SPANS) this.leftOut += 1;
    else this.open.set(slot, { spanId, name, kind, begunAt, attributes });
  }

  private endSpan({ slot, name, attributes, error }: SpanEnd): void {
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
      endedAt: millisecondsOf(this.at),
      attributes: { ...span.attributes, ...attributes },
      ...(error !== undefined && { error }),
    });
  }
}

function eventTime(event: TaskEvent): string | undefined {
  if ('task' in event) return event.task.status.timestamp;
  if ('statusUpdate' in event) return event.statusUpdate.status.timestamp;
  const noted = noteOf(event)?.timestamp;
  return Number.isNaN(millisecondsOf(noted)) ? undefined : noted;
}

function millisecondsOf(timestamp: string | undefined): number {
  return Date.parse(timestamp ?? '');
}

/** Returns the name of an agent in spans: `tea/cup` for `workflows/tea/nodes/cup`. */
function agentName(path: string): string {
  return path.replace(/^workflows\//, '').replace('/nodes/', '/') || 'parley';
}

function wordOf(state: TaskState): string {
  return state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
}
