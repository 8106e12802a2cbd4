import { isJsonObject, type JsonObject, type JsonValue, type StreamResponse, UNREAD_PARTS } from '#libs/protocol';
import { tryParseObject } from '../call-failure.js';

/** Kinds of Parts of A2A 0.3 over JSON-RPC. */
const PART_KINDS = new Set<JsonValue | undefined>(['text', 'file', 'data']);
/** Members of Parts of A2A 0.3 over REST. */
const PART_MEMBERS = new Set(['text', 'file', 'data', 'metadata', 'kind']);
/** States that the SDK accepts over REST; over JSON-RPC it accepts all. */
const STATES = /^TASK_STATE_(SUBMITTED|WORKING|COMPLETED|FAILED|CANCELLED|INPUT_REQUIRED|REJECTED|AUTH_REQUIRED)$/;

/**
 * Prepares a Task, a Message or an update of A2A 0.3 for the SDK.
 *
 * - Parts of unknown kinds, which the SDK rejects, are dropped and listed in the metadata of their parent.
 * - Over REST unknown states, which the SDK rejects, become unspecified.
 *
 * @param isRest true if the value came over REST
 */
function readableLegacyValue(value: JsonObject, isRest: boolean): JsonObject {
  const { status, artifact, artifacts, history } = value;
  return {
    ...withReadParts(value),
    ...(isJsonObject(status) && { status: readableStatus(status, isRest) }),
    ...(isJsonObject(artifact) && { artifact: withReadParts(artifact) }),
    ...(Array.isArray(artifacts) && { artifacts: artifacts.map(withReadParts) }),
    ...(Array.isArray(history) && { history: history.map(withReadParts) }),
  };
}

function readableStatus(status: JsonObject, isRest: boolean): JsonObject {
  const { state, message, update } = status;
  return {
    ...status,
    ...(isRest && { state: knownState(state) }),
    ...(isJsonObject(message) && { message: withReadParts(message) }),
    ...(isJsonObject(update) && { update: withReadParts(update) }),
  };
}

/** Returns a state that the SDK accepts over REST. Some agents write the names of states as over JSON-RPC. */
function knownState(state: JsonValue | undefined): JsonValue {
  if (typeof state === 'number') return state < 0 || state > 8 ? 0 : state;
  if (typeof state !== 'string') return 0;
  const name = /^[a-z-]+$/.test(state) ? `TASK_STATE_${state.toUpperCase().replace('-', '_')}` : state;
  const spelled = name.replace(/CANCELED$/, 'CANCELLED');
  return STATES.test(spelled) ? spelled : 0;
}

function withReadParts<T extends JsonValue>(value: T): T {
  return isJsonObject(value) ? (ofReadParts(value) as T) : value;
}

function ofReadParts(value: JsonObject): JsonObject {
  const member = Array.isArray(value.parts) ? 'parts' : 'content';
  const parts = value[member];
  if (!Array.isArray(parts)) return value;
  const unread = parts.filter(isJsonObject).map(unreadKind);
  const kinds = unread.filter((kind) => kind !== undefined);
  if (kinds.length === 0) return value;
  const metadata = { ...(isJsonObject(value.metadata) && value.metadata), [UNREAD_PARTS]: kinds };
  return { ...value, [member]: parts.filter((part) => !isJsonObject(part) || !unreadKind(part)), metadata };
}

function unreadKind(part: JsonObject): string | undefined {
  if (typeof part.kind === 'string') return PART_KINDS.has(part.kind) ? undefined : part.kind;
  return 'text' in part || 'file' in part || 'data' in part
    ? undefined
    : Object.keys(part).find((member) => !PART_MEMBERS.has(member));
}

const KINDS = new Set<JsonValue | undefined>(['task', 'message', 'status-update', 'artifact-update']);
const MEMBERS = ['task', 'message', 'msg', 'statusUpdate', 'status_update', 'artifactUpdate', 'artifact_update'];
/** Character that some servers put before each item (RFC 7464), although event streams do not have it. */
const RECORD_SEPARATOR = '\u001e';
const APPEND_KEY = 'parley/append';

/**
 * Prepares an item of a stream of A2A 0.3 for the SDK; `undefined` for an item of an unknown kind, which is skipped as
 * in a stream of 1.0.
 *
 * - The SDK (1.3) drops `append` over REST: `append` is kept in the metadata, from where `withAppend` restores it.
 * - A missing `kind`, optional before 0.3, is inferred over JSON-RPC.
 * - Other problems of an item are left for the SDK to report.
 */
export function readableFrame(sent: string): string | undefined {
  const data = sent.startsWith(RECORD_SEPARATOR) ? sent.slice(1) : sent;
  const item = tryParseObject(data);
  if (item === undefined || 'error' in item) return data;
  if ('jsonrpc' in item) return readableResponse(item);
  if (MEMBERS.every((name) => !(name in item))) return undefined;
  return JSON.stringify(readableItem(item));
}

/** Prepares a whole answer for the SDK: a JSON-RPC response, or over REST a Task or the answer to a Message. */
export function readableAnswer(sent: string): string {
  const answer = tryParseObject(sent);
  if (answer === undefined || 'error' in answer) return sent;
  if ('jsonrpc' in answer) return readableResponse(answer) ?? sent;
  return JSON.stringify('status' in answer ? readableLegacyValue(answer, true) : readableItem(answer));
}

/** Prepares a JSON-RPC response for the SDK; `undefined` if its result is of a kind that 0.3 does not have. */
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

/** True for an id that is a number written as text: the SDK numbers its requests, and would reject such an answer. */
function isTextOfNumber(id: JsonValue | undefined): boolean {
  return typeof id === 'string' && /^\d{1,15}$/.test(id);
}

/** Restores the `append` of an Artifact update that `readableFrame` kept in the metadata. */
export function withAppend(response: StreamResponse): StreamResponse {
  if (!('artifactUpdate' in response) || response.artifactUpdate.metadata?.[APPEND_KEY] !== true) return response;
  const { metadata, ...update } = response.artifactUpdate;
  const { [APPEND_KEY]: _append, ...rest } = metadata ?? {};
  return { artifactUpdate: { ...update, append: true, ...(Object.keys(rest).length > 0 && { metadata: rest }) } };
}

/** Infers the kind of an item that has no `kind`, from its other members. */
function kindOf({ artifact, parts, status, id }: JsonObject): string | undefined {
  if (artifact !== undefined) return 'artifact-update';
  if (parts !== undefined) return 'message';
  if (status === undefined) return undefined;
  return id === undefined ? 'status-update' : 'task';
}
