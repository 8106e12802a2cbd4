import { isJsonObject, type JsonObject, type JsonValue, type StreamResponse } from '#libs/protocol';

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
  if ('jsonrpc' in item) {
    const { result } = item;
    if (!isJsonObject(result)) return data;
    const { kind = kindOf(result) } = result;
    if (kind !== undefined && result.kind === undefined)
      return JSON.stringify({ ...item, result: { kind, ...result } });
    return typeof kind === 'string' && !KINDS.has(kind) ? undefined : data;
  }
  if (MEMBERS.every((name) => !(name in item))) return undefined;
  const update = item.artifactUpdate ?? item.artifact_update;
  if (!isJsonObject(update) || update.append !== true) return data;
  const metadata = { ...(isJsonObject(update.metadata) && update.metadata), [APPEND_KEY]: true };
  return JSON.stringify({ artifactUpdate: { ...update, metadata } });
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

function objectOf(data: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(data);
    return isJsonObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}
