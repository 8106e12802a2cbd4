import { A2AError, type FieldViolation } from '#libs/protocol';

/** Names of 0.3 for invalid fields of the request of 1.0 that its own was converted to. */
export interface LegacyWords {
  /** Replacements in a field's path, applied in this order. */
  fields: readonly (readonly [of10: RegExp, of03: string])[];
  descriptions?: Readonly<Record<string, string>>;
}

const PART = String.raw`^(message\.parts\[\d+\])`;
const EXACTLY_ONE = 'must have exactly one of text, raw, url, data';
const SCHEME = [/\bauthentication\.scheme$/, 'authentication.schemes[0]'] as const;

/** Names for `message/send` and `message/stream`. */
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

/** Names for `tasks/pushNotificationConfig/set`, also over HTTP+JSON. */
export const PUSH_CONFIG_WORDS: LegacyWords = {
  fields: [[/^(id|url|token|authentication)\b/, 'pushNotificationConfig.$1'], SCHEME],
};

/** Names for `tasks/pushNotificationConfig/get`, `list` and `delete`. */
export const PUSH_PARAMS_WORDS: LegacyWords = {
  fields: [
    [/^id$/, 'pushNotificationConfigId'],
    [/^taskId$/, 'id'],
  ],
};

/** Names for `message:send` and `message:stream` of HTTP+JSON, whose roles are those of 1.0. */
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

/** Returns an error with its fields named as in the caller's version. */
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

/** Builds the message of an error as invalidParams does. */
function violationsText(violations: readonly FieldViolation[]): string {
  return violations.map((it) => `${it.field}: ${it.description}`).join('; ');
}
