import { isJsonObject, type JsonObject, type JsonValue, type StreamResponse } from '#libs/protocol';
import { readableLegacyValue } from './legacy-values.js';

const KINDS = new Set<JsonValue | undefined>(['task', 'message', 'status-update', 'artifact-update']);
const MEMBERS = ['task', 'message', 'msg', 'statusUpdate', 'status_update', 'artifactUpdate', 'artifact_update'];
/** Some servers put one before each item (RFC 7464), which has no place in a stream of events. */
const RECORD_SEPARATOR = '\u001e';
const APPEND_KEY = 'parley/append';

/**
 * An item of a stream of A2A 0.3, over JSON-RPC or REST, as the SDK can read it; `undefined` for one of a kind that 0.3
 * does not know, which is passed over as it is in a stream of 1.0. Over REST the SDK (1.3) drops `append`: it is kept in
 * the metadata, from where `withAppend` takes it. Before 0.3 an item needed no kind. Whatever else is wrong with an item
 * is the SDK's to say.
 */
export function readableFrame(sent: string): string | undefined {
  const data = sent.startsWith(RECORD_SEPARATOR) ? sent.slice(1) : sent;
  const item = objectOf(data);
  if (item === undefined || 'error' in item) return data;
  if ('jsonrpc' in item) return readableResponse(item);
  if (MEMBERS.every((name) => !(name in item))) return undefined;
  return JSON.stringify(readableItem(item));
}

/** Returns a whole answer as the SDK can read it: of JSON-RPC, or a Task or the answer to a Message over REST. */
export function readableAnswer(sent: string): string {
  const answer = objectOf(sent);
  if (answer === undefined || 'error' in answer) return sent;
  if ('jsonrpc' in answer) return readableResponse(answer) ?? sent;
  return JSON.stringify('status' in answer ? readableLegacyValue(answer, true) : readableItem(answer));
}

/** `undefined` for a result of a kind that 0.3 does not know. */
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

/** The SDK numbers its requests, and takes no answer to the text of a number. */
function isTextOfNumber(id: JsonValue | undefined): boolean {
  return typeof id === 'string' && /^\d{1,15}$/.test(id);
}

/** What the SDK made of an item, with what `readableFrame` has kept of it. */
export function withAppend(response: StreamResponse): StreamResponse {
  if (!('artifactUpdate' in response) || response.artifactUpdate.metadata?.[APPEND_KEY] !== true) return response;
  const { metadata, ...update } = response.artifactUpdate;
  const { [APPEND_KEY]: _append, ...rest } = metadata ?? {};
  return { artifactUpdate: { ...update, append: true, ...(Object.keys(rest).length > 0 && { metadata: rest }) } };
}

/** What an item without a kind is, as far as its members tell. */
function kindOf({ artifact, parts, status, id }: JsonObject): string | undefined {
  if (artifact !== undefined) return 'artifact-update';
  if (parts !== undefined) return 'message';
  if (status === undefined) return undefined;
  return id === undefined ? 'status-update' : 'task';
}

/** Returns the JSON object that a text is, if it is one. */
export function objectOf(data: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(data);
    return isJsonObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}
