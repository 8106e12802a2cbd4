import { hash } from 'node:crypto';
import { ownTraceId, type TraceContext, type TraceHeaders, traceHeaders } from '#libs/service';

/** Key of a span within its Task: the same in every process and at every repetition. */
export type SpanKey = readonly (string | number | undefined)[];

/** Trace of a Task's turn, and the position of the turn in it. */
export interface TurnTrace {
  readonly traceId: string;
  /** True if spans of the turn are exported. */
  readonly sampled: boolean;
  /** Id of the turn's span. */
  readonly spanId: string;
  /** Id of the caller's span; absent at the beginning of a trace. */
  readonly parentSpanId?: string;
  readonly state?: string;
  spanIdOf(...key: SpanKey): string;
  /**
   * Returns the trace context for a call of this turn. Its parent is the span that the key names, such as `'call',
   * messageId`, `'chat', step, model` or `'tool', callId`.
   */
  contextBelow(...key: SpanKey): TraceContext;
  /** Returns the trace context of `contextBelow` as headers. */
  headersBelow(...key: SpanKey): TraceHeaders;
}

const UNSAMPLED = '0000000000000001';

/** Returns the key of the turn that begins with this event of the log. */
export function turnKey(sequence: number): SpanKey {
  return ['turn', sequence];
}

export function spanIdOf(taskId: string, key: SpanKey): string {
  return hash('sha256', [taskId, ...key].join('/')).slice(0, 16);
}

/** Trace of a turn whose spans are recorded by this process. */
export class OwnTrace implements TurnTrace {
  readonly sampled = true;
  readonly spanId: string;

  constructor(
    private readonly taskId: string,
    readonly traceId: string,
    /** Sequence number of the first event of the turn. */
    private readonly began: number,
    readonly parentSpanId?: string,
    readonly state?: string,
  ) {
    this.spanId = spanIdOf(taskId, turnKey(began));
  }

  spanIdOf(...key: SpanKey): string {
    return spanIdOf(this.taskId, LASTING.has(key[0]) ? key : [...key, this.began]);
  }

  contextBelow(...key: SpanKey): TraceContext {
    const { traceId, sampled, state } = this;
    return { traceId, spanId: this.spanIdOf(...key), sampled, ...(state !== undefined && { state }) };
  }

  headersBelow(...key: SpanKey): TraceHeaders {
    return traceHeaders(this.contextBelow(...key));
  }
}

/**
 * First members of those SpanKeys that are unique in the whole Task. All other keys (of model steps and tool calls) are
 * unique only within their turn.
 */
const LASTING: ReadonlySet<unknown> = new Set(['turn', 'call']);

/**
 * Trace of a turn whose spans are not exported (not sampled); the headers of its outgoing calls state that. All its
 * spans share one meaningless id. The trace id is computed only on request.
 */
export class UnsampledTrace implements TurnTrace {
  readonly sampled = false;
  readonly spanId = UNSAMPLED;

  constructor(
    private readonly taskId: string,
    private readonly parent?: TraceContext,
  ) {}

  get traceId(): string {
    return this.parent?.traceId ?? ownTraceId(this.taskId);
  }

  spanIdOf(): string {
    return UNSAMPLED;
  }

  contextBelow(): TraceContext {
    const { traceId, spanId, sampled, parent } = this;
    return { traceId, spanId, sampled, ...(parent?.state !== undefined && { state: parent.state }) };
  }

  headersBelow(): TraceHeaders {
    return traceHeaders(this.contextBelow());
  }
}

/** Trace of a turn in a process that records no spans: the caller's trace context is passed on unchanged. */
export class PassedTrace implements TurnTrace {
  readonly sampled = false;

  constructor(private readonly inbound: TraceContext) {}

  get traceId(): string {
    return this.inbound.traceId;
  }

  get spanId(): string {
    return this.inbound.spanId;
  }

  spanIdOf(): string {
    return this.inbound.spanId;
  }

  contextBelow(): TraceContext {
    return this.inbound;
  }

  headersBelow(): TraceHeaders {
    return traceHeaders(this.inbound);
  }
}
