import { Injectable, Logger } from '@nestjs/common';
import type { JsonObject } from '#libs/protocol';
import { type StoredTask, type TaskEvent, TaskStore } from '#libs/tasks';
import { type Span, Tracing, type TurnTrace } from '#libs/tracing';
import type { ServedAgent } from '../agent-catalog.js';
import { inboundOf, readKept, turnBegin } from './kept-trace.js';
import { agentSteps } from './span-step.js';
import { TurnSpans } from './turn-spans.js';

type TracedExecutor = Pick<ServedAgent, 'path' | 'executor'>;

/** Turn to trace. */
export interface TurnStart {
  task: { taskId: string; contextId: string };
  /** Metadata of the Task. */
  metadata: JsonObject | undefined;
  /** Sequence of the first event. */
  began: number;
  /** Events so far. The first one opens the turn. */
  events: readonly TaskEvent[];
}

/** Trace of one execution's turn. */
export interface ExecutionTrace {
  readonly trace: TurnTrace;
  /** Adds a recorded event. */
  take(event: TaskEvent): void;
  /** Exports the spans. Call it when this process has ended the turn and the end is durable. */
  end(): void;
}

/** Creates the spans of turns from their events, if an exporter is configured. */
@Injectable()
export class TaskTracing {
  private readonly logger = new Logger('Tracing');

  constructor(
    private readonly tracing: Tracing,
    private readonly store: TaskStore,
  ) {}

  /** Starts the trace of a turn; `undefined` if neither this service nor the caller traces it. */
  begin({ path, executor }: TracedExecutor, turn: TurnStart): ExecutionTrace | undefined {
    const trace = this.traceOf(turn);
    if (!trace?.sampled) return trace && { trace, take: nothing, end: nothing };
    const steps = (event: TaskEvent) => executor.spanSteps?.(event) ?? agentSteps(event);
    const operation = executor.spanOperation ?? 'invoke_agent';
    const spans = new TurnSpans(turn.task, { path, operation, steps }, trace);
    for (const event of turn.events) spans.take(event);
    return { trace, take: (event) => spans.take(event), end: () => this.export(turn, spans) };
  }

  /** Starts the trace of a waiting Task's next turn. */
  next(agent: TracedExecutor, { header, task }: StoredTask, events: readonly TaskEvent[]): ExecutionTrace | undefined {
    return this.begin(agent, { task: header, metadata: task.metadata, began: header.lastSequence + 1, events });
  }

  /** Starts the trace of the last turn of a log, whichever process has executed it so far. */
  rest(agent: TracedExecutor, { header, task }: StoredTask, log: readonly TaskEvent[]): ExecutionTrace | undefined {
    const began = turnBegin(log);
    return this.begin(agent, { task: header, metadata: task.metadata, began, events: log.slice(began - 1) });
  }

  private traceOf({ task: { taskId }, metadata, began, events }: TurnStart): TurnTrace | undefined {
    const parent = inboundOf(events[0]) ?? readKept(metadata);
    return this.tracing.turn({ taskId, began, ...(parent && { parent }) });
  }

  private export(turn: TurnStart, spans: TurnSpans): void {
    if (turn.began === 1) this.tracing.export(spans.finish());
    else void this.linkOf(turn).then((link) => this.tracing.export(spans.finish(link)));
  }

  /** Returns the span of the previous turn; `undefined` if it has none, or the lookup fails. */
  private async linkOf({ task, metadata, began }: TurnStart): Promise<Span['link']> {
    try {
      const log = (await this.store.events(task.taskId, 0, began - 2)).map(({ event }) => event);
      const begin = turnBegin(log);
      const before = this.traceOf({ task, metadata, began: begin, events: log.slice(begin - 1) });
      return before?.sampled ? { traceId: before.traceId, spanId: before.spanId } : undefined;
    } catch (error) {
      this.logger.debug({ err: error, taskId: task.taskId }, 'The span of a turn is not linked to the one before');
      return undefined;
    }
  }
}

function nothing(): void {}
