import { Injectable, Logger } from '@nestjs/common';
import type { JsonObject } from '#libs/protocol';
import { type StoredTask, type TaskEvent, TaskStore } from '#libs/tasks';
import { type Span, Tracing, type TurnTrace } from '#libs/tracing';
import type { ServedAgent } from '../agent-catalog.js';
import { inboundOf, readKept, turnBegin } from './kept-trace.js';
import { agentSteps } from './span-step.js';
import { TurnSpans } from './turn-spans.js';

type TracedExecutor = Pick<ServedAgent, 'path' | 'executor'>;

/** A turn whose trace is wanted. */
export interface TurnStart {
  task: { taskId: string; contextId: string };
  /** Of the Task. */
  metadata: JsonObject | undefined;
  /** The sequence of its first event. */
  began: number;
  /** Its events so far; the first one opens it. */
  events: readonly TaskEvent[];
}

/** The trace of one execution's turn. */
export interface ExecutionTrace {
  readonly trace: TurnTrace;
  /** Takes in an event that was recorded. */
  take(event: TaskEvent): void;
  /** The turn is over, which is durable, and this process did that: its spans are made. */
  end(): void;
}

/** Makes the spans of turns from their events, where there is somebody to send them to. */
@Injectable()
export class TaskTracing {
  private readonly logger = new Logger('Tracing');

  constructor(
    private readonly tracing: Tracing,
    private readonly store: TaskStore,
  ) {}

  /** `undefined` where nobody traces the turn, here or where its call came from. */
  begin({ path, executor }: TracedExecutor, turn: TurnStart): ExecutionTrace | undefined {
    const trace = this.traceOf(turn);
    if (!trace?.sampled) return trace && { trace, take: nothing, end: nothing };
    const steps = (event: TaskEvent) => executor.spanSteps?.(event) ?? agentSteps(event);
    const operation = executor.spanOperation ?? 'invoke_agent';
    const spans = new TurnSpans(turn.task, { path, operation, steps }, trace);
    for (const event of turn.events) spans.take(event);
    return { trace, take: (event) => spans.take(event), end: () => this.export(turn, spans) };
  }

  /** The turn that a waiting Task goes on with. */
  next(agent: TracedExecutor, { header, task }: StoredTask, events: readonly TaskEvent[]): ExecutionTrace | undefined {
    return this.begin(agent, { task: header, metadata: task.metadata, began: header.lastSequence + 1, events });
  }

  /** The turn that a log ends in, whoever executed it so far. */
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

  /** The span of the turn before; `undefined` where it has none, or cannot be looked up. */
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
