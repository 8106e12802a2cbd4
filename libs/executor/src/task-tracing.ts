import { Injectable, Logger } from '@nestjs/common';
import {
  agentSteps,
  type CallContext,
  type ServedAgent,
  type SpanBegin,
  type SpanEnd,
  type SpanStep,
} from '#libs/agents';
import { isWaitingState, type JsonObject, type SendMessageRequest, type TaskState } from '#libs/protocol';
import { readTraceContext, type TraceContext, traceHeaders } from '#libs/service';
import { noteOf, type StoredTask, type TaskEvent, TaskStore } from '#libs/tasks';
import { type Attributes, type Span, type SpanKind, Tracing, type TurnTrace } from '#libs/tracing';

/**
 * Returns the trace headers to store with a new Task, or with the event that accepts a Message to a waiting Task. The
 * trace context of the call takes precedence over the trace context in the Message's metadata. If the trace context of
 * the call is unreadable, returns `undefined`, so that a new trace begins.
 */
export function keptTrace({ message }: SendMessageRequest, { trace }: CallContext): JsonObject | undefined {
  if (trace === null) return undefined;
  const { traceparent, tracestate } = message.metadata ?? {};
  const context = trace ?? (traceparent === undefined ? undefined : readTraceContext(traceparent, tracestate));
  return context && { ...traceHeaders(context) };
}

/** Returns the trace context that the first event of a turn contains; `undefined` if there is none. */
export function inboundOf(opening: TaskEvent | undefined): TraceContext | undefined {
  if (opening === undefined || 'artifactUpdate' in opening) return undefined;
  return readKept('task' in opening ? opening.task.metadata : opening.statusUpdate.metadata);
}

function readKept(metadata: JsonObject | undefined): TraceContext | undefined {
  return metadata?.['traceparent'] === undefined
    ? undefined
    : readTraceContext(metadata['traceparent'], metadata['tracestate']);
}

/** Returns the sequence of the first event of a log's last turn: the event after the last waiting state. */
export function turnBegin(log: readonly TaskEvent[]): number {
  return log.findLastIndex((event) => 'statusUpdate' in event && isWaitingState(event.statusUpdate.status.state)) + 2;
}

/** Description of an agent for the span of its turn. */
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

/** Maximum number of spans per turn; spans beyond it are only counted. */
const MOST_SPANS = 5_000;
const FAILED: ReadonlySet<TaskState> = new Set(['TASK_STATE_FAILED', 'TASK_STATE_REJECTED']);

/**
 * Trace spans of one turn, derived from the turn's events. The same events give the same spans in any process. Spans
 * contain no content of Messages or Artifacts. Only the content of model calls is included, if the operator enables
 * that (`PromptNote`).
 */
export class TurnSpans {
  private readonly open = new Map<string, OpenSpan>();
  private readonly over: Span[] = [];
  private leftOut = 0;
  /**
   * Times of the first and the newest event of the turn, as texts from the log. They are parsed only if a span needs
   * them.
   */
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
   * Ends the open spans and returns all spans of the turn, the span of the turn itself first.
   * @param link span of the previous turn; absent: none
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

type TracedExecutor = Pick<ServedAgent, 'path' | 'executor'>;

/** Turn to trace. */
export interface TracedTurnStart {
  task: { taskId: string; contextId: string };
  /** Metadata of the Task. */
  metadata: JsonObject | undefined;
  /** Sequence of the turn's first event. */
  began: number;
  /** Events of the turn so far. The first one opens the turn. */
  events: readonly TaskEvent[];
}

/** Trace of the turn that an execution runs. */
export interface ExecutionTrace {
  readonly trace: TurnTrace;
  /** Adds a recorded event. */
  traceEvent(event: TaskEvent): void;
  /** Exports the spans of the turn. Call it when this process has ended the turn and the end is durable. */
  exportSpans(): void;
}

/** Creates the trace spans of turns from their events, if an exporter is configured. */
@Injectable()
export class TaskTracing {
  private readonly logger = new Logger('Tracing');

  constructor(
    private readonly tracing: Tracing,
    private readonly store: TaskStore,
  ) {}

  /** Starts the trace of a turn. Returns `undefined` if neither this service nor the caller traces the turn. */
  traceTurn({ path, executor }: TracedExecutor, turn: TracedTurnStart): ExecutionTrace | undefined {
    const trace = this.traceOf(turn);
    if (!trace?.sampled) return trace && { trace, traceEvent: doNothing, exportSpans: doNothing };
    const steps = (event: TaskEvent) => executor.spanSteps?.(event) ?? agentSteps(event);
    const operation = executor.spanOperation ?? 'invoke_agent';
    const spans = new TurnSpans(turn.task, { path, operation, steps }, trace);
    for (const event of turn.events) spans.addEvent(event);
    return { trace, traceEvent: (event) => spans.addEvent(event), exportSpans: () => this.exportTurn(turn, spans) };
  }

  /** Starts the trace of a waiting Task's next turn. */
  traceNextTurn(
    agent: TracedExecutor,
    { header, task }: StoredTask,
    events: readonly TaskEvent[],
  ): ExecutionTrace | undefined {
    return this.traceTurn(agent, { task: header, metadata: task.metadata, began: header.lastSequence + 1, events });
  }

  /**
   * Starts the trace of the last turn in a log. That turn is unfinished; another process may have executed its
   * beginning.
   */
  traceRestOfTurn(
    agent: TracedExecutor,
    { header, task }: StoredTask,
    log: readonly TaskEvent[],
  ): ExecutionTrace | undefined {
    const began = turnBegin(log);
    return this.traceTurn(agent, { task: header, metadata: task.metadata, began, events: log.slice(began - 1) });
  }

  private traceOf({ task: { taskId }, metadata, began, events }: TracedTurnStart): TurnTrace | undefined {
    const parent = inboundOf(events[0]) ?? readKept(metadata);
    return this.tracing.traceTurn({ taskId, began, ...(parent && { parent }) });
  }

  private exportTurn(turn: TracedTurnStart, spans: TurnSpans): void {
    if (turn.began === 1) this.tracing.exportSpans(spans.finishSpans());
    else void this.linkOf(turn).then((link) => this.tracing.exportSpans(spans.finishSpans(link)));
  }

  /** Returns a link to the span of the previous turn; `undefined` if that turn has no span, or the lookup fails. */
  private async linkOf({ task, metadata, began }: TracedTurnStart): Promise<Span['link']> {
    try {
      const log = (await this.store.readEvents(task.taskId, 0, began - 2)).map(({ event }) => event);
      const begin = turnBegin(log);
      const before = this.traceOf({ task, metadata, began: begin, events: log.slice(begin - 1) });
      return before?.sampled ? { traceId: before.traceId, spanId: before.spanId } : undefined;
    } catch (error) {
      this.logger.debug(
        { err: error, taskId: task.taskId },
        'The span of a turn could not be linked to the previous one',
      );
      return undefined;
    }
  }
}

function doNothing(): void {}
