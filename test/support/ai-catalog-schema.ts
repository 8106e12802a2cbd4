import { Ajv } from 'ajv';

const text = { type: 'string', minLength: 1 };
const time = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$' };
const extensions = {
  type: 'object',
  // A key is a URL, or a name in reverse DNS order.
  propertyNames: { pattern: '^(https?://\\S+|[a-z0-9-]+(\\.[A-Za-z0-9-]+)+)$' },
};

const entry = {
  type: 'object',
  required: ['identifier', 'type'],
  properties: {
    // A `urn:air` has a domain, at least one namespace, and a name.
    identifier: { ...text, pattern: '^(urn:air:[a-z0-9.-]+(:[^:\\s]+){2,}|(?!urn:air:)\\S+)$' },
    type: text,
    url: { type: 'string', pattern: '^https?://\\S+$' },
    data: {},
    displayName: text,
    description: text,
    tags: { type: 'array', items: text },
    version: text,
    updatedAt: time,
    digest: { type: 'string', pattern: '^sha(256:[0-9a-f]{64}|384:[0-9a-f]{96}|512:[0-9a-f]{128})$' },
    publisher: { type: 'object', required: ['identifier', 'displayName'] },
    trustManifests: { type: 'array', items: { type: 'object', required: ['contributor'] } },
    extensions,
  },
  oneOf: [{ required: ['url'] }, { required: ['data'] }],
  // Members of drafts before 0.9.
  not: { anyOf: ['mediaType', 'trustManifest', 'metadata'].map((name) => ({ required: [name] })) },
};

/** Schema of an AI Catalog of version 0.9, from the facts of its specification. */
const CATALOG = {
  type: 'object',
  required: ['specVersion', 'entries'],
  properties: {
    specVersion: { type: 'string', pattern: '^[01]\\.\\d+$' },
    entries: { type: 'array', items: entry },
    host: {
      type: 'object',
      required: ['displayName'],
      properties: { displayName: text, identifier: text, documentationUrl: text, logoUrl: text },
    },
    extensions,
    signature: {
      type: 'object',
      required: ['signer', 'profile', 'issuedAt', 'jws'],
      properties: {
        signer: { type: 'string', pattern: '^did:web:[a-z0-9.-]+$' },
        profile: { const: 'did-web-v1' },
        issuedAt: time,
        expiresAt: time,
        // A compact JWS without its payload.
        jws: { type: 'string', pattern: '^[\\w-]+\\.\\.[\\w-]+$' },
      },
    },
  },
};

/** Schema of the card of an MCP server, from the facts of its specification (draft of SEP-2127). */
const SERVER_CARD = {
  type: 'object',
  required: ['$schema', 'name', 'version', 'description'],
  properties: {
    $schema: { const: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json' },
    name: { type: 'string', minLength: 3, maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
    version: { type: 'string', maxLength: 255, pattern: '^[^\\^~*<>=]+$' },
    description: { type: 'string', minLength: 1, maxLength: 100 },
    title: { type: 'string', minLength: 1, maxLength: 100 },
    remotes: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'url'],
        properties: {
          type: { enum: ['streamable-http', 'sse'] },
          url: { type: 'string', pattern: '^https?://\\S+$' },
          headers: { type: 'array', items: { type: 'object', required: ['name'] } },
        },
      },
    },
    tools: false,
  },
};

const ajv = new Ajv({ allErrors: true, strict: false });

/** Creates a function that returns the faults of a document as sentences; `[]` if it is valid. */
function faultFinder(schema: object): (document: unknown) => string[] {
  const validate = ajv.compile(schema);
  return (document) =>
    validate(document) ? [] : (validate.errors ?? []).map((it) => `${it.instancePath} ${it.message}`);
}

const schemaFaults = faultFinder(CATALOG);

/** Returns the faults of an AI Catalog: those of its schema, and entries that share an identifier and a version. */
export function catalogFaults(document: unknown): string[] {
  const faults = schemaFaults(document);
  if (faults.length > 0) return faults;
  const { entries } = document as { entries: { identifier: string; version?: string }[] };
  const keys = entries.map(({ identifier, version }) => `${identifier} ${version ?? ''}`);
  return keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `two entries are ${key}`);
}

/** Returns the faults of the card of an MCP server. */
export const serverCardFaults = faultFinder(SERVER_CARD);
