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
export interface TracedTurnStart {
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
  traceEvent(event: TaskEvent): void;
  /** Exports the spans. Call it when this process has ended the turn and the end is durable. */
  exportSpans(): void;
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

  /** Starts the trace of the last turn of a log, whichever process has executed it so far. */
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

  /** Returns the span of the previous turn; `undefined` if it has none, or the lookup fails. */
  private async linkOf({ task, metadata, began }: TracedTurnStart): Promise<Span['link']> {
    try {
      const log = (await this.store.readEvents(task.taskId, 0, began - 2)).map(({ event }) => event);
      const begin = turnBegin(log);
      const before = this.traceOf({ task, metadata, began: begin, events: log.slice(begin - 1) });
      return before?.sampled ? { traceId: before.traceId, spanId: before.spanId } : undefined;
    } catch (error) {
      this.logger.debug({ err: error, taskId: task.taskId }, 'The span of a turn is not linked to the one before');
      return undefined;
    }
  }
}

function doNothing(): void {}
