import type { Attributes, Span, SpanKind } from './span.js';

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
/** Says to the receiver which fields to understand: those of this version of the conventions. */
const SCOPE = '{"name":"parley"}';
const [TAIL, FAILED] = [']}]}]}', '{"code":2}'];
const FIRST_BYTES = 16 * 1024;
/** Of a character of JavaScript in UTF-8, at most. */
const BYTES_OF_A_CHARACTER = 3;

/**
 * The body of one export to `/v1/traces` (OTLP 1.x, in its JSON encoding: ids in hex, 64-bit numbers as texts). A span is
 * written when it is added, and only its bytes are kept: objects that wait to be sent would be copied by the garbage
 * collector meanwhile, more than once.
 */
export class OtlpBody {
  private spans = 0;
  private buffer = Buffer.allocUnsafe(FIRST_BYTES);
  private length = 0;

  constructor(resource: Attributes) {
    const attributes = keyValues(resource);
    this.write(`{"resourceSpans":[{"resource":{"attributes":${attributes}},"scopeSpans":[{"scope":${SCOPE},"spans":[`);
  }

  /** How many spans it has. */
  get size(): number {
    return this.spans;
  }

  add(span: Span): void {
    this.write(this.spans === 0 ? spanOf(span) : `,${spanOf(span)}`);
    this.spans += 1;
  }

  /** The whole body, to which nothing is added any more. */
  end(): Buffer<ArrayBuffer> {
    this.write(TAIL);
    return this.buffer.subarray(0, this.length);
  }

  private write(text: string): void {
    const needed = this.length + text.length * BYTES_OF_A_CHARACTER;
    if (needed > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2));
      this.buffer.copy(larger, 0, 0, this.length);
      this.buffer = larger;
    }
    this.length += this.buffer.write(text, this.length);
  }
}

/** Ids are hex digits, and keys of attributes are words of this code: what else there is may be anybody's. */
function spanOf({ traceId, spanId, parentSpanId, state, name, kind, begunAt, endedAt, attributes, error, link }: Span) {
  const parent = parentSpanId === undefined ? '' : `,"parentSpanId":"${parentSpanId}"`;
  const traceState = state === undefined ? '' : `,"traceState":${JSON.stringify(state)}`;
  const links = link ? `,"links":[{"traceId":"${link.traceId}","spanId":"${link.spanId}"}]` : '';
  return (
    `{"traceId":"${traceId}","spanId":"${spanId}"${parent}${traceState},"name":${JSON.stringify(name)}` +
    `,"kind":${KINDS[kind]},"startTimeUnixNano":"${nanoseconds(begunAt)}"` +
    `,"endTimeUnixNano":"${nanoseconds(Math.max(begunAt, endedAt))}"` +
    `,"attributes":${keyValues(attributes, error)}${links},"status":${error === undefined ? '{}' : FAILED}}`
  );
}

function nanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds)}000000`;
}

function keyValues(attributes: Attributes, error?: string): string {
  let text = '';
  for (const key in attributes) {
    const value = attributes[key];
    if (value !== undefined) text += `${text === '' ? '' : ','}{"key":"${key}","value":${anyValue(value)}}`;
  }
  if (error !== undefined)
    text += `${text === '' ? '' : ','}{"key":"error.type","value":{"stringValue":${JSON.stringify(error)}}}`;
  return `[${text}]`;
}

function anyValue(value: string | number | boolean): string {
  if (typeof value === 'string') return `{"stringValue":${JSON.stringify(value)}}`;
  if (typeof value === 'boolean') return `{"boolValue":${value}}`;
  return Number.isInteger(value) ? `{"intValue":"${value}"}` : `{"doubleValue":${JSON.stringify(value)}}`;
}
