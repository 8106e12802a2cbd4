import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallContext, ServedAgent } from '#libs/agents';
import { A2AError, endsV03Stream, type FieldViolation, type JsonObject, type StreamResponse } from '#libs/protocol';
import { activeExtensions } from '../extensions.js';
import { activatedExtensions, type AgentBase, callContext, type PublicAddress } from '../http/call-context.js';
import type { StreamFraming } from '../http/event-stream.js';
import { publicError } from '../public-error.js';

/** Name of the extensions header of A2A 0.3. */
const EXTENSIONS_HEADER = 'x-a2a-extensions';

/**
 * Reads the context of a call as `callContext` does. Extensions may also be in the header of 0.3.
 * @throws UnknownAgent
 */
export function legacyCall(
  base: AgentBase,
  request: FastifyRequest,
  reply: FastifyReply,
  address: PublicAddress,
): CallContext {
  const call = callContext(base, request, reply, address);
  const header = request.headers[EXTENSIONS_HEADER];
  return { ...call, protocolVersion: '0.3', ...(header !== undefined && { extensions: activatedExtensions(header) }) };
}

/** Sets the extensions header of 0.3 to the requested extensions that the agent supports. */
export function setLegacyExtensions(call: CallContext, agent: ServedAgent, reply: FastifyReply): void {
  const active = activeExtensions(call.extensions, agent);
  if (active.length > 0) reply.header(EXTENSIONS_HEADER, active.join(', '));
}

/**
 * Converts an error to the error that callers of 0.3 see. For a request of an extended card that does not exist, 0.3
 * has only the error EXTENDED_AGENT_CARD_NOT_CONFIGURED, where 1.0 may report UNSUPPORTED_OPERATION.
 * @param extendedCard true if the call requested the extended card
 */
export function legacyError(error: unknown, extendedCard: boolean): A2AError {
  const shown = publicError(error);
  if (!extendedCard || shown.reason !== 'UNSUPPORTED_OPERATION') return shown;
  return new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED', { cause: error });
}

/**
 * Converts a framing of 1.0 to a framing in a format of 0.3. Streams of 0.3 end with the status that ends the turn,
 * also after `tasks/resubscribe`, whereas 1.0 continues a subscription until the Task ends.
 */
export function legacyFraming(framing: StreamFraming, write: (response: StreamResponse) => JsonObject): StreamFraming {
  return {
    frameItem: ({ response }) => framing.frameItem({ response, json: JSON.stringify(write(response)) }),
    frameError: (error) => framing.frameError(error),
    isLast: ({ response }) => endsV03Stream(response),
  };
}

/**
 * Names of 0.3 for the fields and texts in errors of 1.0. A request of 0.3 is converted to 1.0 and then checked, so its
 * errors name fields of 1.0.
 */
export interface LegacyWords {
  /** Replacements in the path of a field, applied in this order: each pair is a pattern of 1.0 and its text in 0.3. */
  fields: readonly (readonly [of10: RegExp, of03: string])[];
  descriptions?: Readonly<Record<string, string>>;
}

const PART = String.raw`^(message\.parts\[\d+\])`;
const EXACTLY_ONE = 'must have exactly one of text, raw, url, data';
const SCHEME = [/\bauthentication\.scheme$/, 'authentication.schemes[0]'] as const;

/** Names of 0.3 for `message/send` and `message/stream`. */
export const SEND_WORDS: LegacyWords = {
  fields: [
    [new RegExp(String.raw`${PART}\.raw$`), '$1.file.bytes'],
    [new RegExp(String.raw`${PART}\.url$`), '$1.file.uri'],
    [new RegExp(String.raw`${PART}\.mediaType$`), '$1.file.mimeType'],
    [new RegExp(String.raw`${PART}\.filename$`), '$1.file.name'],
    [/^configuration\.returnImmediately$/, 'configuration.blocking'],
    [/^configuration\.taskPushNotificationConfig\b/, 'configuration.pushNotificationConfig'],
    SCHEME,
  ],
  descriptions: {
    'must be ROLE_USER': 'must be user',
    [EXACTLY_ONE]:
      'must be of the kind text, data or file, with its text, its data, or the bytes or the uri of its file',
  },
};

/** Names of 0.3 for `tasks/pushNotificationConfig/set`, also over HTTP+JSON. */
export const PUSH_CONFIG_WORDS: LegacyWords = {
  fields: [[/^(id|url|token|authentication)\b/, 'pushNotificationConfig.$1'], SCHEME],
};

/** Names of 0.3 for `tasks/pushNotificationConfig/get`, `list` and `delete`. */
export const PUSH_PARAMS_WORDS: LegacyWords = {
  fields: [
    [/^id$/, 'pushNotificationConfigId'],
    [/^taskId$/, 'id'],
  ],
};

/**
 * Names of 0.3 for `message:send` and `message:stream` of HTTP+JSON. The names of roles there are the same as in 1.0.
 */
export const REST_SEND_WORDS: LegacyWords = {
  fields: [
    [new RegExp(String.raw`${PART}\.raw$`), '$1.file.fileWithBytes'],
    [new RegExp(String.raw`${PART}\.url$`), '$1.file.fileWithUri'],
    [new RegExp(String.raw`${PART}\.mediaType$`), '$1.file.mimeType'],
    [new RegExp(String.raw`${PART}\.filename$`), '$1.file.name'],
    [new RegExp(String.raw`${PART}\.data\b`), '$1.data.data'],
    [/^message\.parts\b/, 'message.content'],
    [/^configuration\.returnImmediately$/, 'configuration.blocking'],
    [/^configuration\.taskPushNotificationConfig\b/, 'configuration.pushNotification'],
    SCHEME,
  ],
  descriptions: {
    [EXACTLY_ONE]: 'must have exactly one of text, file (with fileWithBytes or fileWithUri) and data',
  },
};

/** Returns an error whose fields are named as in 0.3. Without `words` the error is unchanged. */
export function inLegacyWords(error: A2AError, words: LegacyWords | undefined): A2AError {
  const { reason, message, violations, metadata, detailReason, status, cause } = error;
  if (!words || violations.length === 0) return error;
  const named = violations.map((it) => inWords(it, words));
  const text = message === violationsText(violations) ? violationsText(named) : message;
  return new A2AError(reason, { message: text, violations: named, metadata, detailReason, status, cause });
}

function inWords({ field, description, ...rest }: FieldViolation, words: LegacyWords): FieldViolation {
  return {
    field: words.fields.reduce((path, [of10, of03]) => path.replace(of10, of03), field),
    description: words.descriptions?.[description] ?? description,
    ...rest,
  };
}

/** Builds the message of an error from its violations, in the same form as invalidParams. */
function violationsText(violations: readonly FieldViolation[]): string {
  return violations.map((it) => `${it.field}: ${it.description}`).join('; ');
}
