import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { ERROR_TYPE, FAILED_STATUS, type OtlpBody, SCOPE_NAME, SPAN_KINDS, spanTimes } from './otlp-body.js';
import type { Attributes, Span } from './span.js';

const { Bit64, LengthDelimited, Varint } = WireType;

/** Field numbers of opentelemetry/proto/{collector/trace,trace,resource,common}/v1, as far as they are written. */
const EXPORT = { resourceSpans: 1 };
const RESOURCE_SPANS = { resource: 1, scopeSpans: 2 };
const RESOURCE = { attributes: 1 };
const SCOPE_SPANS = { scope: 1, spans: 2 };
const SCOPE = { name: 1 };
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
    writer.tag(SCOPE_SPANS.scope, LengthDelimited).fork().tag(SCOPE.name, LengthDelimited).string(SCOPE_NAME).join();
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
