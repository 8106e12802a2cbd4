import { ERROR_TYPE, FAILED_STATUS, type OtlpBody, SCOPE_NAME, SPAN_KINDS, spanTimes } from './otlp-body.js';
import type { Attributes, Span } from './span.js';

const SCOPE = `{"name":"${SCOPE_NAME}"}`;
const [TAIL, FAILED] = [']}]}]}', `{"code":${FAILED_STATUS}}`];
const FIRST_BYTES = 16 * 1024;
/** Maximum bytes of a JavaScript character in UTF-8. */
const BYTES_OF_A_CHARACTER = 3;

/** A body in OTLP's JSON encoding: ids in hex, 64-bit numbers as texts. */
export class OtlpJsonBody implements OtlpBody {
  private spans = 0;
  private buffer = Buffer.allocUnsafe(FIRST_BYTES);
  private length = 0;

  constructor(resource: Attributes) {
    const attributes = keyValues(resource);
    this.writeText(
      `{"resourceSpans":[{"resource":{"attributes":${attributes}},"scopeSpans":[{"scope":${SCOPE},"spans":[`,
    );
  }

  get size(): number {
    return this.spans;
  }

  add(span: Span): void {
    this.writeText(this.spans === 0 ? spanOf(span) : `,${spanOf(span)}`);
    this.spans += 1;
  }

  finishBody(): Buffer<ArrayBuffer> {
    this.writeText(TAIL);
    return this.buffer.subarray(0, this.length);
  }

  private writeText(text: string): void {
    const needed = this.length + text.length * BYTES_OF_A_CHARACTER;
    if (needed > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2));
      this.buffer.copy(larger, 0, 0, this.length);
      this.buffer = larger;
    }
    this.length += this.buffer.write(text, this.length);
  }
}

/**
 * Encodes a span. Ids are hex digits, and keys of attributes are constants of this code; all other texts are escaped.
 */
function spanOf(span: Span): string {
  const { traceId, spanId, parentSpanId, state, name, kind, attributes, error, link } = span;
  const { begun, ended } = spanTimes(span);
  const parent = parentSpanId === undefined ? '' : `,"parentSpanId":"${parentSpanId}"`;
  const traceState = state === undefined ? '' : `,"traceState":${JSON.stringify(state)}`;
  const links = link ? `,"links":[{"traceId":"${link.traceId}","spanId":"${link.spanId}"}]` : '';
  return (
    `{"traceId":"${traceId}","spanId":"${spanId}"${parent}${traceState},"name":${JSON.stringify(name)}` +
    `,"kind":${SPAN_KINDS[kind]},"startTimeUnixNano":"${begun}","endTimeUnixNano":"${ended}"` +
    `,"attributes":${keyValues(attributes, error)}${links},"status":${error === undefined ? '{}' : FAILED}}`
  );
}

function keyValues(attributes: Attributes, error?: string): string {
  let text = '';
  for (const key in attributes) {
    const value = attributes[key];
    if (value !== undefined) text += `${text === '' ? '' : ','}{"key":"${key}","value":${anyValue(value)}}`;
  }
  if (error !== undefined)
    text += `${text === '' ? '' : ','}{"key":"${ERROR_TYPE}","value":{"stringValue":${JSON.stringify(error)}}}`;
  return `[${text}]`;
}

function anyValue(value: string | number | boolean): string {
  if (typeof value === 'string') return `{"stringValue":${JSON.stringify(value)}}`;
  if (typeof value === 'boolean') return `{"boolValue":${value}}`;
  return Number.isSafeInteger(value) ? `{"intValue":"${value}"}` : `{"doubleValue":${JSON.stringify(value)}}`;
}
