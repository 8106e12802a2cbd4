import { isJsonObject, type JsonObject, type JsonValue, type StreamResponse } from '#libs/protocol';
import { readableLegacyValue } from './legacy-values.js';

const KINDS = new Set<JsonValue | undefined>(['task', 'message', 'status-update', 'artifact-update']);
const MEMBERS = ['task', 'message', 'msg', 'statusUpdate', 'status_update', 'artifactUpdate', 'artifact_update'];
/** Character that some servers put before each item (RFC 7464), although event streams do not have it. */
const RECORD_SEPARATOR = '\u001e';
const APPEND_KEY = 'parley/append';

/**
 * Prepares an item of a stream of A2A 0.3 for the SDK; `undefined` for an item of an unknown kind, which is skipped as
 * in a stream of 1.0.
 *
 * - The SDK (1.3) drops `append` over REST: it is kept in the metadata, from where `withAppend` restores it.
 * - Before 0.3 an item needed no kind.
 * - Other problems of an item are left for the SDK to report.
 */
export function readableFrame(sent: string): string | undefined {
  const data = sent.startsWith(RECORD_SEPARATOR) ? sent.slice(1) : sent;
  const item = objectOf(data);
  if (item === undefined || 'error' in item) return data;
  if ('jsonrpc' in item) return readableResponse(item);
  if (MEMBERS.every((name) => !(name in item))) return undefined;
  return JSON.stringify(readableItem(item));
}

/** Prepares a whole answer for the SDK: a JSON-RPC response, or over REST a Task or the answer to a Message. */
export function readableAnswer(sent: string): string {
  const answer = objectOf(sent);
  if (answer === undefined || 'error' in answer) return sent;
  if ('jsonrpc' in answer) return readableResponse(answer) ?? sent;
  return JSON.stringify('status' in answer ? readableLegacyValue(answer, true) : readableItem(answer));
}

/** Prepares a JSON-RPC response; `undefined` for a result of a kind unknown to 0.3. */
function readableResponse(response: JsonObject): string | undefined {
  const { result } = response;
  const id = isTextOfNumber(response.id) ? Number(response.id) : response.id;
  if (!isJsonObject(result)) return JSON.stringify({ ...response, id });
  const { kind = kindOf(result) } = result;
  if (typeof kind === 'string' && !KINDS.has(kind)) return undefined;
  const read = { ...(kind !== undefined && { kind }), ...readableLegacyValue(result, false) };
  return JSON.stringify({ ...response, id, result: read });
}

function readableItem(item: JsonObject): JsonObject {
  const read = Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, isJsonObject(value) ? readableLegacyValue(value, true) : value]),
  );
  const update = read.artifactUpdate ?? read.artifact_update;
  if (!isJsonObject(update) || update.append !== true) return read;
  const metadata = { ...(isJsonObject(update.metadata) && update.metadata), [APPEND_KEY]: true };
  return { artifactUpdate: { ...update, metadata } };
}

/** True for an id that is the text of a number: the SDK numbers its requests and rejects such an answer. */
function isTextOfNumber(id: JsonValue | undefined): boolean {
  return typeof id === 'string' && /^\d{1,15}$/.test(id);
}

/** Restores the `append` that `readableFrame` kept in the metadata. */
export function withAppend(response: StreamResponse): StreamResponse {
  if (!('artifactUpdate' in response) || response.artifactUpdate.metadata?.[APPEND_KEY] !== true) return response;
  const { metadata, ...update } = response.artifactUpdate;
  const { [APPEND_KEY]: _append, ...rest } = metadata ?? {};
  return { artifactUpdate: { ...update, append: true, ...(Object.keys(rest).length > 0 && { metadata: rest }) } };
}

/** Infers the kind of an item without one from its members. */
function kindOf({ artifact, parts, status, id }: JsonObject): string | undefined {
  if (artifact !== undefined) return 'artifact-update';
  if (parts !== undefined) return 'message';
  if (status === undefined) return undefined;
  return id === undefined ? 'status-update' : 'task';
}

/** Parses a JSON object; `undefined` for any other text. */
export function objectOf(data: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(data);
    return isJsonObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}
