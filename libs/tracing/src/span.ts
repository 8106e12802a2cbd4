export type Attributes = Record<string, string | number | boolean>;

export type SpanKind = 'internal' | 'server' | 'client';

/** Finished span. Times are milliseconds since 1970. */
export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  state?: string;
  name: string;
  kind: SpanKind;
  begunAt: number;
  endedAt: number;
  attributes: Attributes;
  /** Kind of the failure, if the operation failed. */
  error?: string;
  /** Related span. */
  link?: { traceId: string; spanId: string };
}
