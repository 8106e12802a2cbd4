export type Attributes = Record<string, string | number | boolean>;

export type SpanKind = 'internal' | 'server' | 'client';

/** A span that is over. Times are milliseconds since 1970. */
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
  /** It came to nothing: what kind of failure that was. */
  error?: string;
  /** Another span that it has to do with. */
  link?: { traceId: string; spanId: string };
}
