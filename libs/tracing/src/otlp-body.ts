import type { Span, SpanKind } from './span.js';

/**
 * The body of one export to `/v1/traces` (OTLP 1.x). A span is encoded when it is added, and only its bytes are kept:
 * the garbage collector would copy objects that wait to be sent more than once.
 */
export interface OtlpBody {
  /** Number of spans in the body. */
  readonly size: number;
  add(span: Span): void;
  /** Completes and returns the body. No span may be added after it. */
  finishBody(): Uint8Array<ArrayBuffer>;
}

/** Instrumentation scope of every span. */
export const SCOPE_NAME = 'parley';

/** Attribute that names the kind of a failure. */
export const ERROR_TYPE = 'error.type';

/** Number of `STATUS_CODE_ERROR`. */
export const FAILED_STATUS = 2;

/** Numbers of `SpanKind`. */
export const SPAN_KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };

/**
 * Returns the begin and end of a span in nanoseconds since 1970, as decimal digits. The end is never before the begin.
 */
export function spanTimes({ begunAt, endedAt }: Span): { begun: string; ended: string } {
  return { begun: toNanoseconds(begunAt), ended: toNanoseconds(Math.max(begunAt, endedAt)) };
}

function toNanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds)}000000`;
}
