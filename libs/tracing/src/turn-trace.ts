import { hash } from 'node:crypto';
import { ownTraceId, type TraceContext, type TraceHeaders, traceHeaders } from '#libs/service';

/** What tells a span of a Task from its others: the same in whichever process it is made, and however often. */
export type SpanKey = readonly (string | number | undefined)[];

/** The trace that a turn of a Task belongs to, and its place in it. */
export interface TurnTrace {
  readonly traceId: string;
  /** Whether spans are made of the turn. */
  readonly sampled: boolean;
  /** Of the turn. */
  readonly spanId: string;
  /** Who called for it; absent at the beginning of a trace. */
  readonly parentSpanId?: string;
  readonly state?: string;
  spanIdOf(...key: SpanKey): string;
  /**
   * Where a call of this turn stands in the trace: below the span that the key names, such as `'call', messageId`,
   * `'chat', step, model` or `'tool', callId`.
   */
  context(...key: SpanKey): TraceContext;
  /** The same as headers. */
  headers(...key: SpanKey): TraceHeaders;
}

const UNSAMPLED = '0000000000000001';

/** Of the turn that begins with this event of the log. */
export function turnKey(sequence: number): SpanKey {
  return ['turn', sequence];
}

export function spanIdOf(taskId: string, key: SpanKey): string {
  return hash('sha256', [taskId, ...key].join('/')).slice(0, 16);
}

/** A turn whose spans are made here. */
export class OwnTrace implements TurnTrace {
  readonly sampled = true;
  readonly spanId: string;

  constructor(
    private readonly taskId: string,
    readonly traceId: string,
    /** The sequence of the event that it begins with. */
    private readonly began: number,
    readonly parentSpanId?: string,
    readonly state?: string,
  ) {
    this.spanId = spanIdOf(taskId, turnKey(began));
  }

  spanIdOf(...key: SpanKey): string {
    return spanIdOf(this.taskId, LASTING.has(key[0]) ? key : [...key, this.began]);
  }

  context(...key: SpanKey): TraceContext {
    const { traceId, sampled, state } = this;
    return { traceId, spanId: this.spanIdOf(...key), sampled, ...(state !== undefined && { state }) };
  }

  headers(...key: SpanKey): TraceHeaders {
    return traceHeaders(this.context(...key));
  }
}

/** What has a name in the whole Task; steps of models and calls of tools are counted anew in each turn. */
const LASTING: ReadonlySet<unknown> = new Set(['turn', 'call']);

/**
 * A turn that is not sampled, which whoever it calls is told of. Nobody looks for its spans: their ids say nothing, and
 * what trace it is nobody works out who does not ask.
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

  context(): TraceContext {
    const { traceId, spanId, sampled, parent } = this;
    return { traceId, spanId, sampled, ...(parent?.state !== undefined && { state: parent.state }) };
  }

  headers(): TraceHeaders {
    return traceHeaders(this.context());
  }
}

/** A turn of a process that makes no spans: what its caller said goes on as it came. */
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

  context(): TraceContext {
    return this.inbound;
  }

  headers(): TraceHeaders {
    return traceHeaders(this.inbound);
  }
}
