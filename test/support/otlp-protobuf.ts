import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** Encoding of a field's value; an object describes a nested message. */
type FieldType = 'hex' | 'string' | 'enum' | 'bool' | 'int64' | 'fixed64' | 'double' | Message;

interface Field {
  name: string;
  type: FieldType;
  repeated?: true;
}

/** Fields of a message by number. */
interface Message {
  [field: number]: Field;
}

const ANY_VALUE: Message = {
  1: { name: 'stringValue', type: 'string' },
  2: { name: 'boolValue', type: 'bool' },
  3: { name: 'intValue', type: 'int64' },
  4: { name: 'doubleValue', type: 'double' },
};
const KEY_VALUE: Message = { 1: { name: 'key', type: 'string' }, 2: { name: 'value', type: ANY_VALUE } };
const ATTRIBUTES = { name: 'attributes', type: KEY_VALUE, repeated: true } as const;
const SPAN: Message = {
  1: { name: 'traceId', type: 'hex' },
  2: { name: 'spanId', type: 'hex' },
  3: { name: 'traceState', type: 'string' },
  4: { name: 'parentSpanId', type: 'hex' },
  5: { name: 'name', type: 'string' },
  6: { name: 'kind', type: 'enum' },
  7: { name: 'startTimeUnixNano', type: 'fixed64' },
  8: { name: 'endTimeUnixNano', type: 'fixed64' },
  9: ATTRIBUTES,
  13: {
    name: 'links',
    type: { 1: { name: 'traceId', type: 'hex' }, 2: { name: 'spanId', type: 'hex' } },
    repeated: true,
  },
  15: { name: 'status', type: { 3: { name: 'code', type: 'enum' } } },
};
const SCOPE_SPANS: Message = {
  1: { name: 'scope', type: { 1: { name: 'name', type: 'string' } } },
  2: { name: 'spans', type: SPAN, repeated: true },
};
const RESOURCE_SPANS: Message = {
  1: { name: 'resource', type: { 1: ATTRIBUTES } },
  2: { name: 'scopeSpans', type: SCOPE_SPANS, repeated: true },
};
const EXPORT: Message = { 1: { name: 'resourceSpans', type: RESOURCE_SPANS, repeated: true } };

/**
 * Decodes an `ExportTraceServiceRequest` of OTLP (opentelemetry-proto 1.x) into the shape of its JSON encoding.
 * @throws Error for an unknown field, which a receiver would drop silently
 */
export function readOtlpProtobuf(bytes: Uint8Array): unknown {
  return readMessage(new BinaryReader(bytes), EXPORT);
}

function readMessage(reader: BinaryReader, message: Message): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = message[number];
    if (field === undefined) throw new Error(`No field ${number} beside ${JSON.stringify(read)}`);
    if (wireType !== wireTypeOf(field.type)) throw new Error(`${field.name} has the wire type ${wireType}`);
    const value = readValue(reader, field.type);
    read[field.name] = field.repeated ? [...((read[field.name] as unknown[] | undefined) ?? []), value] : value;
  }
  return read;
}

function wireTypeOf(type: FieldType): WireType {
  if (type === 'fixed64' || type === 'double') return WireType.Bit64;
  return type === 'enum' || type === 'bool' || type === 'int64' ? WireType.Varint : WireType.LengthDelimited;
}

function readValue(reader: BinaryReader, type: FieldType): unknown {
  if (typeof type === 'object') return readMessage(new BinaryReader(reader.bytes()), type);
  switch (type) {
    case 'hex':
      return Buffer.from(reader.bytes()).toString('hex');
    case 'string':
      return reader.string();
    case 'enum':
      return reader.int32();
    case 'bool':
      return reader.bool();
    case 'int64':
      return String(reader.int64());
    case 'fixed64':
      return String(reader.fixed64());
    case 'double':
      return reader.double();
  }
}
