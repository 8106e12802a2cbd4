import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';

/**
 * Number of times that a client of A2A 0.3 encodes a file in base64 over HTTP+JSON. By the schema it is once:
 * `file_with_bytes` has the bytes of the file, and ProtoJSON writes bytes in base64. The SDKs of Python and Java store
 * the base64 text of the file in `file_with_bytes`, so files are encoded twice in requests and answers.
 */
export type FileEncoding = 'once' | 'twice';

/** User agents of the clients inside the 0.3 SDKs of Python and Java, and over gRPC also of Go. */
const ENCODING_TWICE = /^(?:python-httpx|Java-http-client)\/|(?:^| )grpc-(?:python|python-asyncio|go|java-\w+)\//;
const BASE64_TEXT = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/;

/** Returns how the client of a request encodes files. */
export function fileEncodingOf(userAgent: string | undefined): FileEncoding {
  return ENCODING_TWICE.test(userAgent ?? '') ? 'twice' : 'once';
}

/**
 * Decodes the files of a Message that a client encoded twice. A file whose bytes are not base64 text was encoded once,
 * and stays as it is.
 * @param params parameters of SendMessage in 1.0, not validated
 */
export function decodeFilesOnce(params: JsonValue): JsonValue {
  if (!isJsonObject(params) || !isJsonObject(params.message) || !Array.isArray(params.message.parts)) return params;
  const parts = params.message.parts.map((part) =>
    isJsonObject(part) && typeof part.raw === 'string' ? { ...part, raw: decodedText(part.raw) ?? part.raw } : part,
  );
  return { ...params, message: { ...params.message, parts } };
}

/** Members of answers and of items of streams in 1.0 that lead to Parts. */
const PARENTS = ['task', 'message', 'statusUpdate', 'artifactUpdate', 'status', 'artifact'] as const;
const LISTS = ['tasks', 'history', 'artifacts'] as const;

/** Encodes the files of an answer, or of an item of a stream, once more. Data and metadata stay as they are. */
export function encodeFilesTwice<T extends object>(answer: T): T {
  const copy = { ...answer } as JsonObject;
  for (const name of PARENTS) {
    const value = copy[name];
    if (isJsonObject(value)) copy[name] = encodeFilesTwice(value);
  }
  for (const name of LISTS) {
    const value = copy[name];
    if (Array.isArray(value)) copy[name] = value.map((item) => (isJsonObject(item) ? encodeFilesTwice(item) : item));
  }
  if (Array.isArray(copy.parts)) copy.parts = copy.parts.map(encodePart);
  return copy as T;
}

function encodePart(part: JsonValue): JsonValue {
  if (!isJsonObject(part) || typeof part.raw !== 'string') return part;
  return { ...part, raw: Buffer.from(part.raw, 'latin1').toString('base64') };
}

/** Decodes base64 once. Returns the decoded text if that text is base64 again, else `undefined`. */
function decodedText(raw: string): string | undefined {
  const text = Buffer.from(raw, 'base64').toString('latin1');
  return BASE64_TEXT.test(text) ? text : undefined;
}
