import type { Attributes, Span, SpanKind } from './span.js';

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const ERROR = 2;
/** Says to the receiver which fields to understand: those of this version of the conventions. */
const SCOPE = { name: 'parley' };

/** The body of one export to `/v1/traces` (OTLP 1.x, in its JSON encoding: ids in hex, 64-bit numbers as texts). */
export function otlpBody(spans: readonly Span[], resource: Attributes): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [{ scope: SCOPE, spans: spans.map(otlpSpan) }],
      },
    ],
  });
}

function otlpSpan(span: Span): object {
  const { traceId, spanId, parentSpanId, state, name, kind, error, link } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    ...(state !== undefined && { traceState: state }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(span.begunAt),
    endTimeUnixNano: nanoseconds(Math.max(span.begunAt, span.endedAt)),
    attributes: keyValues(error === undefined ? span.attributes : { ...span.attributes, 'error.type': error }),
    ...(link && { links: [link] }),
    status: error === undefined ? {} : { code: ERROR },
  };
}

function nanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds)}000000`;
}

function keyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
