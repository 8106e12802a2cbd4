import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';

/** Position of a call in a trace (W3C Trace Context): the trace, and the span of the caller. */
export interface TraceContext {
  /** 32 hex digits, in lower case. */
  traceId: string;
  /** 16 hex digits, in lower case. */
  spanId: string;
  sampled: boolean;
  /** Vendor-specific data that tracing systems pass on (`tracestate`); absent if the caller sent none. */
  state?: string;
}

/**
 * Trace context as `traceparent` and `tracestate`: names of HTTP headers, of gRPC metadata and of `_meta` in MCP. Empty
 * without a trace.
 */
export type TraceHeaders = Readonly<Record<string, string>>;

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;
const SAMPLED = 1;

/**
 * Parses the trace context of a caller; returns `undefined` if it is missing or malformed. A malformed `tracestate`
 * alone is dropped.
 */
export function readTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return undefined;
  const sampled = (Number.parseInt(flags ?? '', 16) & SAMPLED) === SAMPLED;
  const state = Array.isArray(tracestate) ? tracestate.join(',') : tracestate;
  return { traceId, spanId, sampled, ...(typeof state === 'string' && TRACESTATE.test(state) && { state }) };
}

/**
 * Reads the trace context of request headers. Returns `undefined` if there is none, and `null` if it is malformed, so
 * that a new trace begins.
 */
export function inboundTrace(headers: Readonly<Record<string, unknown>>): TraceContext | null | undefined {
  const { traceparent } = headers;
  return traceparent === undefined ? undefined : (readTraceContext(traceparent, headers['tracestate']) ?? null);
}

export function traceHeaders({ traceId, spanId, sampled, state }: TraceContext): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
  return state === undefined ? { traceparent } : { traceparent, tracestate: state };
}

/**
 * Returns the trace id of a Task: the id in the trace context of the call that created the Task, else an id derived
 * from the Task's id.
 */
export function taskTraceId(taskId: string, metadata?: Readonly<Record<string, unknown>>): string {
  return readTraceContext(metadata?.['traceparent'])?.traceId ?? ownTraceId(taskId);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Derives the trace id of a Task that no traced call created; every process derives the same id. A UUID is used without
 * its hyphens, since Task ids end with 62 random bits, and samplers need random digits there.
 */
export function ownTraceId(taskId: string): string {
  return UUID.test(taskId) ? taskId.replaceAll('-', '') : hash('sha256', taskId).slice(0, 32);
}

/** Finds the traces of Tasks that execute in this process, for log lines that name a Task. */
@Injectable()
export class TraceIds {
  private findTrace: (taskId: string) => string | undefined = () => undefined;

  /** Sets the function that returns the trace id of a Task. @param find called for each log line that names a Task */
  lookIn(find: (taskId: string) => string | undefined): void {
    this.findTrace = find;
  }

  /** Adds `trace_id` to a log line that names a traced Task, unless the line has one. */
  addTraceId(line: Record<string, unknown>): Record<string, unknown> {
    const taskId = line['taskId'] ?? line['runId'];
    if (typeof taskId !== 'string' || 'trace_id' in line) return line;
    const traceId = this.findTrace(taskId);
    return traceId === undefined ? line : { ...line, trace_id: traceId };
  }
}
