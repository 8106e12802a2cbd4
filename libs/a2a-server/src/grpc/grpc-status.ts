import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { type A2AError, briefText } from '#libs/protocol';
import { publicError } from '../public-error.js';

/**
 * gRPC status for each HTTP status that describes an error more precisely than the gRPC status of its A2A error code.
 */
const BY_HTTP_STATUS: Readonly<Record<number, status>> = {
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  408: status.DEADLINE_EXCEEDED,
  409: status.ALREADY_EXISTS,
  413: status.RESOURCE_EXHAUSTED,
  429: status.RESOURCE_EXHAUSTED,
  503: status.UNAVAILABLE,
};

/**
 * Maximum number of characters of a text in gRPC trailers: clients accept 8 KiB of headers, and texts quoted from a
 * request may be long.
 */
const LONGEST_TEXT = 300;
const MOST_VIOLATIONS_BYTES = 2_500;

/**
 * Converts an error to the gRPC error that callers see: the status of section 5.4, and a `google.rpc.Status` with the
 * same details as in the other bindings (section 10.6).
 */
export function grpcError(error: unknown): Partial<ServiceError> {
  const shown = publicError(error);
  const code = BY_HTTP_STATUS[shown.status] ?? status[shown.grpc as keyof typeof status] ?? status.UNKNOWN;
  const metadata = new Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from(statusBytes(code, shown)));
  return { name: shown.name, code, details: shortenText(shown.message), metadata };
}

/** Truncates a text for a trailer, and replaces unpaired surrogates, which gRPC cannot write. */
function shortenText(text: string): string {
  const cut = text.length > LONGEST_TEXT ? briefText(text, LONGEST_TEXT - 1) : text;
  return Buffer.from(cut).toString();
}

/** Encodes a google.rpc.Status (numbers of its fields: `code` 1, `message` 2, `details` 3). */
function statusBytes(code: number, error: A2AError): Uint8Array {
  const writer = new BinaryWriter()
    .uint32(fieldTag(1, 0))
    .int32(code)
    .uint32(fieldTag(2, 2))
    .string(shortenText(error.message));
  for (const detail of error.toDetails()) {
    const type = detail['@type'] as string;
    const value = type.endsWith('.ErrorInfo') ? errorInfo(detail as unknown as ErrorInfo) : badRequest(error);
    writer.uint32(fieldTag(3, 2)).fork().uint32(fieldTag(1, 2)).string(type).uint32(fieldTag(2, 2)).bytes(value).join();
  }
  return writer.finish();
}

interface ErrorInfo {
  reason: string;
  domain: string;
  metadata: Record<string, string>;
}

/** Encodes a google.rpc.ErrorInfo (numbers of its fields: `reason` 1, `domain` 2, `metadata` 3). */
function errorInfo({ reason, domain, metadata }: ErrorInfo): Uint8Array {
  const writer = new BinaryWriter().uint32(fieldTag(1, 2)).string(reason).uint32(fieldTag(2, 2)).string(domain);
  for (const [key, value] of Object.entries(metadata)) {
    writer.uint32(fieldTag(3, 2)).fork().uint32(fieldTag(1, 2)).string(key).uint32(fieldTag(2, 2)).string(value).join();
  }
  return writer.finish();
}

/** Encodes a google.rpc.BadRequest (numbers: `field_violations` 1, in each of them `field` 1 and `description` 2). */
function badRequest({ violations }: A2AError): Uint8Array {
  const writer = new BinaryWriter();
  let bytes = 0;
  for (const violation of violations) {
    const [field, description] = [shortenText(violation.field), shortenText(violation.description)];
    bytes += Buffer.byteLength(field) + Buffer.byteLength(description);
    if (bytes > MOST_VIOLATIONS_BYTES) break;
    writer
      .uint32(fieldTag(1, 2))
      .fork()
      .uint32(fieldTag(1, 2))
      .string(field)
      .uint32(fieldTag(2, 2))
      .string(description)
      .join();
  }
  return writer.finish();
}

/** Returns the tag of a field: its number and wire type (0: varint, 2: length-delimited). */
function fieldTag(field: number, wireType: 0 | 2): number {
  return (field << 3) | wireType;
}
