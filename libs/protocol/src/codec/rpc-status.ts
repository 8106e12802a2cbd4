import { BinaryReader } from '@bufbuild/protobuf/wire';

/** Details of a gRPC error that decide what the error means. */
export interface RpcStatus {
  /** Reasons of its `google.rpc.ErrorInfo` details, with their domains. */
  reasons: { reason: string; domain: string }[];
  /** Pause in milliseconds that the error requests in a `google.rpc.RetryInfo`; absent if it requests none. */
  retryAfter?: number;
}

/**
 * Maximum number of bytes of an encoded status; a longer status is ignored. Real ones are far smaller, as they arrive
 * in trailers, which have at most a few kilobytes.
 */
const MOST_BYTES = 64 * 1024;
/** Maximum number of details that are read. */
const MOST_DETAILS = 32;
const LONGEST_PAUSE_MS = 24 * 60 * 60_000;

/** Reads an encoded `google.rpc.Status`. For bytes that are not such a status, the result has no reasons. */
export function readRpcStatus(bytes: Uint8Array | undefined): RpcStatus {
  const status: RpcStatus = { reasons: [] };
  if (bytes === undefined || bytes.byteLength > MOST_BYTES) return status;
  try {
    for (const detail of fieldsOf(bytes).get(DETAILS)?.slice(0, MOST_DETAILS) ?? []) readDetail(detail, status);
  } catch {
    // What was read until then stays.
  }
  return status;
}

/** Number of the field `details` of `google.rpc.Status`, each value a `google.protobuf.Any`. */
const DETAILS = 3;
const TYPE_URL = 1;
const VALUE = 2;

function readDetail(any: Uint8Array | number, status: RpcStatus): void {
  const fields = fieldsOf(any);
  const value = fields.get(VALUE)?.[0];
  const type = textOf(fields.get(TYPE_URL)?.[0]);
  if (type.endsWith('/google.rpc.ErrorInfo')) {
    const info = fieldsOf(value);
    status.reasons.push({ reason: textOf(info.get(1)?.[0]), domain: textOf(info.get(2)?.[0]) });
  } else if (type.endsWith('/google.rpc.RetryInfo')) status.retryAfter = millisecondsOf(fieldsOf(value).get(1)?.[0]);
}

/** Returns the milliseconds of an encoded `google.protobuf.Duration` (field numbers: `seconds` 1, `nanos` 2). */
function millisecondsOf(duration: Uint8Array | number | undefined): number {
  const fields = fieldsOf(duration);
  const [seconds, nanos] = [fields.get(1)?.[0], fields.get(2)?.[0]].map((it) => (typeof it === 'number' ? it : 0));
  return Math.min(Math.max(0, seconds! * 1_000 + Math.ceil(nanos! / 1_000_000)), LONGEST_PAUSE_MS);
}

/** Reads the fields of a message by number: length-delimited ones as bytes, varints as numbers. Skips all others. */
function fieldsOf(message: Uint8Array | number | undefined): Map<number, (Uint8Array | number)[]> {
  const fields = new Map<number, (Uint8Array | number)[]>();
  if (!(message instanceof Uint8Array)) return fields;
  const reader = new BinaryReader(message);
  while (reader.pos < message.byteLength) {
    const [field, type] = reader.tag();
    const value = type === 2 ? reader.bytes() : type === 0 ? Number(reader.int64()) : reader.skip(type, field);
    if (typeof value === 'number' || type === 2) fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

function textOf(value: Uint8Array | number | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : '';
}
