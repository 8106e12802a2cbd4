import type { ErrorObject } from 'ajv';
import { type FieldViolation, isPlainText, LONGEST_ID, readTimestamp, TASK_STATES } from '#libs/protocol';

/** Makes a field optional. An optional field may also be `null`, which ProtoJSON reads as absent. */
const optionalField = <T extends object>(schema: T): T & { nullable: true } => ({ ...schema, nullable: true });

/** Builds the schema of a message. Unknown fields are dropped, never rejected (A2A 1.0, section 5.7). */
const messageSchema = (properties: object, required: string[] = []): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const INT32_MAX = 2_147_483_647;

/** Roles, indexed by their numbers in `a2a.proto`. */
const ROLES = ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT'];
const STATES = ['TASK_STATE_UNSPECIFIED', ...TASK_STATES];

const TEXT = { type: 'string' };
const NON_EMPTY_TEXT = { type: 'string', minLength: 1 };
const ID = { type: 'string', minLength: 1, maxLength: LONGEST_ID, format: 'identifier' };
/** Optional id. The empty string means absent, as in every proto3 string. */
const OPTIONAL_ID = optionalField({ type: 'string', maxLength: LONGEST_ID, format: 'identifier' });
const STRUCT = optionalField({ type: 'object' });
const TEXTS = optionalField({ type: 'array', items: NON_EMPTY_TEXT });
const HISTORY_LENGTH = optionalField({ type: 'integer', minimum: 0, maximum: INT32_MAX });
const FLAG = optionalField({ type: 'boolean' });

const PART = {
  ...messageSchema({
    text: optionalField(TEXT),
    raw: optionalField({ type: 'string', format: 'base64' }),
    url: optionalField(NON_EMPTY_TEXT),
    data: {},
    mediaType: optionalField(TEXT),
    filename: optionalField(TEXT),
    metadata: STRUCT,
  }),
  exactlyOneOf: ['text', 'raw', 'url', 'data'],
};

const MESSAGE = messageSchema(
  {
    messageId: ID,
    contextId: OPTIONAL_ID,
    taskId: OPTIONAL_ID,
    role: { type: 'string', enum: ['ROLE_USER'], numbers: ROLES },
    parts: { type: 'array', minItems: 1, items: PART },
    metadata: STRUCT,
    extensions: TEXTS,
    referenceTaskIds: optionalField({ type: 'array', items: ID }),
  },
  ['messageId', 'role', 'parts'],
);

const AUTHENTICATION = optionalField(
  messageSchema({ scheme: NON_EMPTY_TEXT, credentials: optionalField(TEXT) }, ['scheme']),
);

const PUSH_CONFIG_FIELDS = {
  tenant: OPTIONAL_ID,
  id: OPTIONAL_ID,
  taskId: OPTIONAL_ID,
  url: NON_EMPTY_TEXT,
  token: optionalField(TEXT),
  authentication: AUTHENTICATION,
};

const CONFIGURATION = optionalField(
  messageSchema({
    acceptedOutputModes: TEXTS,
    taskPushNotificationConfig: optionalField(messageSchema(PUSH_CONFIG_FIELDS, ['url'])),
    historyLength: HISTORY_LENGTH,
    returnImmediately: FLAG,
  }),
);

/** Schemas of the protocol's requests as ProtoJSON (A2A 1.0, sections 3.1 and 4.1). */
export const REQUEST_SCHEMAS = {
  sendMessage: messageSchema(
    { tenant: OPTIONAL_ID, message: MESSAGE, configuration: CONFIGURATION, metadata: STRUCT },
    ['message'],
  ),
  getTask: messageSchema({ tenant: OPTIONAL_ID, id: ID, historyLength: HISTORY_LENGTH }, ['id']),
  listTasks: messageSchema({
    tenant: OPTIONAL_ID,
    contextId: OPTIONAL_ID,
    status: optionalField({ type: 'string', enum: ['', ...STATES, null], numbers: STATES }),
    pageSize: optionalField({ type: 'integer', minimum: 1, maximum: 100 }),
    pageToken: optionalField({ type: 'string', maxLength: 1024 }),
    historyLength: HISTORY_LENGTH,
    statusTimestampAfter: optionalField({ type: 'string', format: 'timestamp' }),
    includeArtifacts: FLAG,
  }),
  cancelTask: messageSchema({ tenant: OPTIONAL_ID, id: ID, metadata: STRUCT }, ['id']),
  subscribeToTask: messageSchema({ tenant: OPTIONAL_ID, id: ID }, ['id']),
  createPushConfig: messageSchema({ ...PUSH_CONFIG_FIELDS, taskId: ID }, ['taskId', 'url']),
  onePushConfig: messageSchema({ tenant: OPTIONAL_ID, taskId: ID, id: ID }, ['taskId', 'id']),
  listPushConfigs: messageSchema(
    {
      tenant: OPTIONAL_ID,
      taskId: ID,
      pageSize: optionalField({ type: 'integer', minimum: 0, maximum: INT32_MAX }),
      pageToken: optionalField({ type: 'string', maxLength: 1024 }),
    },
    ['taskId'],
  ),
  getExtendedAgentCard: messageSchema({ tenant: OPTIONAL_ID }),
};

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** String formats of the request schemas. `FORMAT_TEXTS` has their error texts. */
export const REQUEST_FORMATS: Record<string, (value: string) => boolean> = {
  identifier: isPlainText,
  base64: isBase64,
  timestamp: (value) => readTimestamp(value) !== undefined,
};

const FORMAT_TEXTS: Record<string, string> = {
  identifier: 'must not contain control characters',
  base64: 'must be base64',
  timestamp: 'must be an RFC 3339 timestamp such as 2025-11-09T10:30:00Z',
};

/** True for base64 in the standard or URL-safe alphabet, with or without padding, as ProtoJSON reads bytes. */
function isBase64(value: string): boolean {
  if (!BASE64.test(value)) return false;
  if (value.endsWith('=')) return value.length % 4 === 0;
  return value.length % 4 !== 1;
}

const MAX_VIOLATIONS = 20;

/** Converts schema errors to violations with texts for callers: one per field, at most 20. */
export function fieldViolations(errors: readonly ErrorObject[]): FieldViolation[] {
  const byField = new Map<string, FieldViolation>();
  for (const error of errors) {
    const field = fieldOf(error);
    if (!byField.has(field)) byField.set(field, { field, description: descriptionOf(error) });
    if (byField.size === MAX_VIOLATIONS) break;
  }
  return [...byField.values()];
}

/**
 * Returns the path of the field at fault, such as `message.parts[0]`; for a missing property, the path that it would
 * have.
 */
function fieldOf(error: ErrorObject): string {
  const pointer =
    error.keyword === 'required' ? `${error.instancePath}/${error.params.missingProperty}` : error.instancePath;
  const path = pointer.replaceAll(/\/(\d+)/g, '[$1]').replaceAll('/', '.');
  return path === '' ? 'params' : path.replace(/^\./, '');
}

function descriptionOf(error: ErrorObject): string {
  const limit = error.params.limit as number | undefined;
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'type':
      return `must be ${withArticle(typeName(error.schema))}`;
    case 'enum':
      return `must be ${oneOf(error.schema as (string | null)[])}`;
    case 'format':
      return FORMAT_TEXTS[error.params.format as string] ?? 'has the wrong format';
    case 'minLength':
      return 'must not be empty';
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return 'must have at least one entry';
    case 'minimum':
    case 'maximum':
      return rangeText(error);
    case 'exactlyOneOf':
      return `must have exactly one of ${(error.schema as string[]).join(', ')}`;
    default:
      return 'is not valid';
  }
}

/**
 * Returns the name of the type that a schema requires, such as `string`; for a boolean it returns `boolean: true or
 * false`, since query parameters are texts.
 */
function typeName(schema: unknown): string {
  const types = (Array.isArray(schema) ? schema : [schema]) as string[];
  const name = types.find((it) => it !== 'null') ?? 'null';
  return name === 'boolean' ? 'boolean: true or false' : name;
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

function oneOf(values: readonly (string | null)[]): string {
  const named = values.filter((it) => it !== null && it !== '' && !it.endsWith('_UNSPECIFIED'));
  return named.length === 1 ? String(named[0]) : `one of ${named.join(', ')}`;
}

const LARGEST_INT32 = 2_147_483_647;

function rangeText(error: ErrorObject): string {
  const { minimum, maximum } = error.parentSchema as { minimum?: number; maximum?: number };
  if (maximum === undefined || (maximum === LARGEST_INT32 && error.keyword === 'minimum'))
    return `must be at least ${minimum}`;
  if (minimum === undefined || maximum === LARGEST_INT32) return `must be at most ${maximum}`;
  return `must be between ${minimum} and ${maximum}`;
}
