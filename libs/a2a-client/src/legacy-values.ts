import { isJsonObject, type JsonObject, type JsonValue, UNREAD_PARTS } from '#libs/protocol';

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
export function readableLegacyValue(value: JsonObject, isRest: boolean): JsonObject {
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

/** Returns a state that the SDK accepts over REST. Some agents write JSON-RPC's state names over REST, too. */
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
