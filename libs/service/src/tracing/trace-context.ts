import { hash } from 'node:crypto';

/** Where a call stands in a trace (W3C Trace Context): the trace, and the span of whoever calls. */
export interface TraceContext {
  /** 32 hex digits, in lower case. */
  traceId: string;
  /** 16 hex digits, in lower case. */
  spanId: string;
  sampled: boolean;
  /** What tracing systems hand on beside it (`tracestate`). */
  state?: string;
}

/**
 * How it is written, `traceparent` and `tracestate`: the names are those of HTTP headers, of gRPC's metadata and of `_meta`
 * in MCP. Empty where there is no trace.
 */
export type TraceHeaders = Readonly<Record<string, string>>;

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;
const SAMPLED = 1;

/** What a caller says; `undefined` where that is nothing, or malformed. A malformed `tracestate` alone is left out. */
export function readTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return undefined;
  const sampled = (Number.parseInt(flags ?? '', 16) & SAMPLED) === SAMPLED;
  const state = Array.isArray(tracestate) ? tracestate.join(',') : tracestate;
  return { traceId, spanId, sampled, ...(typeof state === 'string' && TRACESTATE.test(state) && { state }) };
}

/** The same of a request's headers: `null` where it names a trace that cannot be read, so that a new one begins. */
export function inboundTrace(headers: Readonly<Record<string, unknown>>): TraceContext | null | undefined {
  const { traceparent } = headers;
  return traceparent === undefined ? undefined : (readTraceContext(traceparent, headers['tracestate']) ?? null);
}

export function traceHeaders({ traceId, spanId, sampled, state }: TraceContext): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
  return state === undefined ? { traceparent } : { traceparent, tracestate: state };
}

/** The trace of a Task: what its metadata keep of the call that made it, else one that follows from its id. */
export function taskTraceId(taskId: string, metadata?: Readonly<Record<string, unknown>>): string {
  return readTraceContext(metadata?.['traceparent'])?.traceId ?? ownTraceId(taskId);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Of a Task that no traced call made: the same in every process. Task ids have 62 random bits at their end. */
export function ownTraceId(taskId: string): string {
  return UUID.test(taskId) ? taskId.replaceAll('-', '') : hash('sha256', taskId).slice(0, 32);
}
