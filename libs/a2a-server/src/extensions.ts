import { randomUUID } from 'node:crypto';
import { CALL_CHAIN, type CallContext, type ServedAgent } from '#libs/agents';
import { readIdempotencyKey } from '#libs/executor';
import {
  A2AError,
  type AgentExtension,
  derivedId,
  invalidParams,
  isJsonObject,
  type JsonValue,
  type Message,
} from '#libs/protocol';

/**
 * URI of the extension for resumable streams: SSE ids are sequence numbers of the Task's events, and SubscribeToTask
 * resumes after `Last-Event-ID` or `?since=`.
 */
export const RESUMABLE_STREAMS = 'urn:parley:extension:resumable-streams:v1';

/** URI of the extension for idempotency keys in Messages, for clients that cannot set headers. */
export const IDEMPOTENCY = 'urn:parley:extension:idempotency:v1';

/** Name of the idempotency key in `message.metadata`. */
export const IDEMPOTENCY_KEY = `${IDEMPOTENCY}/key`;

/** Extension of extended cards that describes the input and the Artifacts of each skill. */
export const SKILL_SCHEMAS: AgentExtension = {
  uri: 'urn:parley:extension:skill-schemas:v1',
  description:
    'params.skills maps the id of a skill to { "input": JSON Schema of the data Part it takes, "artifacts": the names of ' +
    'the Artifacts it makes }.',
  required: false,
};

/** Extensions that every agent's card declares (section 4.6); none is required. Some agents declare more. */
export const EXTENSIONS: readonly AgentExtension[] = [
  {
    uri: RESUMABLE_STREAMS,
    description:
      'The SSE id of every stream item is the sequence of the task that a reader has seen with it. SubscribeToTask with ' +
      'Last-Event-ID or ?since= set to that id sends the task as it stood there, then every later event exactly once, ' +
      'at any replica, also when the task has ended; 0 replays everything. A reader that takes nothing for 30 seconds ' +
      'is disconnected and resumes the same way.',
    required: false,
  },
  {
    uri: IDEMPOTENCY,
    description:
      'The same SendMessage or SendStreamingMessage under the same key is accepted once: its repetitions answer with ' +
      'the turn that the first one began; another request under the key is refused with IDEMPOTENCY_CONFLICT. The key, ' +
      '1 to 255 visible ASCII characters, is the Idempotency-Key header, or, with this extension activated, ' +
      `message.metadata["${IDEMPOTENCY_KEY}"].`,
    required: false,
  },
  {
    uri: CALL_CHAIN,
    description:
      'Messages carry the calls that led to them in their metadata. An agent that passes it on in its own calls learns of loops.',
    required: false,
  },
];

/** Returns the requested extensions (URIs) that the agent supports, for the `A2A-Extensions` header of the answer. */
export function activeExtensions(
  requested: readonly string[],
  { capabilities }: Pick<ServedAgent, 'capabilities'>,
): string[] {
  const known = [...EXTENSIONS, ...(capabilities?.extensions ?? [])];
  return known.map(({ uri }) => uri).filter((uri) => requested.includes(uri));
}

/**
 * Rejects a Message whose caller has not activated an extension that the agent requires (sections 3.3.4 and 4.6).
 * @throws A2AError EXTENSION_SUPPORT_REQUIRED
 */
export function requireExtensions({ capabilities }: Pick<ServedAgent, 'capabilities'>, call: CallContext): void {
  const missing = capabilities?.extensions?.find(({ uri, required }) => required && !call.extensions.includes(uri));
  if (missing === undefined) return;
  throw new A2AError('EXTENSION_SUPPORT_REQUIRED', {
    message: `This agent requires the extension ${missing.uri}: name it in A2A-Extensions`,
    metadata: { extension: missing.uri },
  });
}

/**
 * Returns the idempotency key of a request: the `Idempotency-Key` header, or the key in the Message's metadata if the
 * caller activated the extension; `undefined` without either.
 * @throws A2AError INVALID_PARAMS if the key is invalid, or the two keys differ
 */
export function idempotencyKeyOf(
  request: { message: Pick<Message, 'metadata'> },
  call: CallContext,
): string | undefined {
  if (!call.extensions.includes(IDEMPOTENCY)) return call.idempotencyKey;
  const named = request.message.metadata?.[IDEMPOTENCY_KEY];
  if (named === undefined || named === null) return call.idempotencyKey;
  const field = `message.metadata["${IDEMPOTENCY_KEY}"]`;
  const key = readIdempotencyKey(named, field);
  if (call.idempotencyKey === undefined || call.idempotencyKey === key) return key;
  throw invalidParams({ field, description: 'differs from the Idempotency-Key header' });
}

/**
 * Returns the id for a Message that was sent without one: a random id, or with an idempotency key an id computed from
 * the caller and the key (`derivedId`). A repeated request then has the same Message id at any replica.
 * @param metadata metadata of the Message, which may contain the key
 * @throws A2AError INVALID_PARAMS for an invalid key
 */
export function messageIdOf(call: CallContext, metadata: JsonValue | undefined): string {
  const key = idempotencyKeyOf({ message: isJsonObject(metadata) ? { metadata } : {} }, call);
  if (key === undefined) return randomUUID();
  const { tenant, owner } = call.scope;
  return derivedId('message', tenant, owner, key);
}
