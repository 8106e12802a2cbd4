import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

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
  /** Related span of any trace (span link); absent if there is none. */
  link?: { traceId: string; spanId: string };
}

/**
 * Body of one export to `/v1/traces` (OTLP 1.x). A span is encoded when it is added, and only its bytes are kept: the
 * garbage collector would copy waiting objects more than once.
 */
export interface OtlpBody {
  /** Number of spans in the body. */
  readonly size: number;
  add(span: Span): void;
  /** Completes and returns the body. No span may be added after it. */
  finishBody(): Uint8Array<ArrayBuffer>;
}

/** Instrumentation scope of every span. */
const SCOPE_NAME = 'parley';

/** Attribute that names the kind of a failure. */
const ERROR_TYPE = 'error.type';

/** Number of `STATUS_CODE_ERROR` in OTLP. */
const FAILED_STATUS = 2;

/** Number of each `SpanKind` in OTLP. */
const SPAN_KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };

/**
 * Returns the begin and end of a span in nanoseconds since 1970, as decimal digits. The end is never before the begin.
 */
function spanTimes({ begunAt, endedAt }: Span): { begun: string; ended: string } {
  return { begun: toNanoseconds(begunAt), ended: toNanoseconds(Math.max(begunAt, endedAt)) };
}

function toNanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds)}000000`;
}

const JSON_SCOPE = `{"name":"${SCOPE_NAME}"}`;
const [TAIL, FAILED] = [']}]}]}', `{"code":${FAILED_STATUS}}`];
const FIRST_BYTES = 16 * 1024;
/** Maximum bytes of a JavaScript character in UTF-8. */
const BYTES_OF_A_CHARACTER = 3;

/** Body in OTLP's JSON encoding: ids in hex, 64-bit numbers as texts. */
export class OtlpJsonBody implements OtlpBody {
  private spans = 0;
  private buffer = Buffer.allocUnsafe(FIRST_BYTES);
  private length = 0;

  constructor(resource: Attributes) {
    const attributes = keyValues(resource);
    this.writeText(
      `{"resourceSpans":[{"resource":{"attributes":${attributes}},"scopeSpans":[{"scope":${JSON_SCOPE},"spans":[`,
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
 * Encodes a span as JSON. Ids are hex digits, and keys of attributes are constants of this code; all other texts are
 * escaped.
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

const { Bit64, LengthDelimited, Varint } = WireType;

/**
 * Field numbers of the following messages (opentelemetry/proto/{collector/trace,trace,resource,common}/v1), as far as
 * this service writes them.
 */
const EXPORT = { resourceSpans: 1 };
const RESOURCE_SPANS = { resource: 1, scopeSpans: 2 };
const RESOURCE = { attributes: 1 };
const SCOPE_SPANS = { scope: 1, spans: 2 };
const SCOPE_FIELDS = { name: 1 };
const SPAN = {
  traceId: 1,
  spanId: 2,
  traceState: 3,
  parentSpanId: 4,
  name: 5,
  kind: 6,
  startTimeUnixNano: 7,
  endTimeUnixNano: 8,
  attributes: 9,
  links: 13,
  status: 15,
};
const LINK = { traceId: 1, spanId: 2 };
const STATUS = { code: 3 };
const KEY_VALUE = { key: 1, value: 2 };
const ANY_VALUE = { string: 1, bool: 2, int: 3, double: 4 };

/** Body in OTLP's binary encoding, Protocol Buffers. */
export class OtlpProtobufBody implements OtlpBody {
  private spans = 0;
  private readonly writer = new BinaryWriter();

  constructor(resource: Attributes) {
    const { writer } = this;
    writer.tag(EXPORT.resourceSpans, LengthDelimited).fork();
    writer.tag(RESOURCE_SPANS.resource, LengthDelimited).fork();
    writeAttributes(writer, RESOURCE.attributes, resource);
    writer.join();
    writer.tag(RESOURCE_SPANS.scopeSpans, LengthDelimited).fork();
    writer
      .tag(SCOPE_SPANS.scope, LengthDelimited)
      .fork()
      .tag(SCOPE_FIELDS.name, LengthDelimited)
      .string(SCOPE_NAME)
      .join();
  }

  get size(): number {
    return this.spans;
  }

  add(span: Span): void {
    this.writer.tag(SCOPE_SPANS.spans, LengthDelimited).fork();
    writeSpan(this.writer, span);
    this.writer.join();
    this.spans += 1;
  }

  finishBody(): Uint8Array<ArrayBuffer> {
    return this.writer.join().join().finish();
  }
}

function writeSpan(writer: BinaryWriter, span: Span): void {
  const { begun, ended } = spanTimes(span);
  writeId(writer, SPAN.traceId, span.traceId);
  writeId(writer, SPAN.spanId, span.spanId);
  if (span.state !== undefined) writer.tag(SPAN.traceState, LengthDelimited).string(span.state);
  if (span.parentSpanId !== undefined) writeId(writer, SPAN.parentSpanId, span.parentSpanId);
  writer.tag(SPAN.name, LengthDelimited).string(span.name);
  writer.tag(SPAN.kind, Varint).int32(SPAN_KINDS[span.kind]);
  writer.tag(SPAN.startTimeUnixNano, Bit64).fixed64(begun);
  writer.tag(SPAN.endTimeUnixNano, Bit64).fixed64(ended);
  writeAttributes(writer, SPAN.attributes, span.attributes);
  if (span.error !== undefined) writeAttribute(writer, SPAN.attributes, ERROR_TYPE, span.error);
  if (span.link !== undefined) {
    writer.tag(SPAN.links, LengthDelimited).fork();
    writeId(writer, LINK.traceId, span.link.traceId);
    writeId(writer, LINK.spanId, span.link.spanId);
    writer.join();
  }
  if (span.error === undefined) return;
  writer.tag(SPAN.status, LengthDelimited).fork().tag(STATUS.code, Varint).int32(FAILED_STATUS).join();
}

function writeId(writer: BinaryWriter, field: number, hex: string): void {
  writer.tag(field, LengthDelimited).bytes(Buffer.from(hex, 'hex'));
}

function writeAttributes(writer: BinaryWriter, field: number, attributes: Attributes): void {
  for (const key in attributes) {
    const value = attributes[key];
    if (value !== undefined) writeAttribute(writer, field, key, value);
  }
}

function writeAttribute(writer: BinaryWriter, field: number, key: string, value: string | number | boolean): void {
  writer.tag(field, LengthDelimited).fork();
  writer.tag(KEY_VALUE.key, LengthDelimited).string(key);
  writer.tag(KEY_VALUE.value, LengthDelimited).fork();
  if (typeof value === 'string') writer.tag(ANY_VALUE.string, LengthDelimited).string(value);
  else if (typeof value === 'boolean') writer.tag(ANY_VALUE.bool, Varint).bool(value);
  else if (Number.isSafeInteger(value)) writer.tag(ANY_VALUE.int, Varint).int64(value);
  else writer.tag(ANY_VALUE.double, Bit64).double(value);
  writer.join().join();
}
