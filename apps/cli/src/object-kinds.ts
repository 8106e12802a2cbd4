import { ParleyError } from '#libs/client';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import type { Session } from './session.js';

/** Kind of object, other than a workflow, that files describe with `kind`. */
export interface ObjectKind {
  kind: string;
  /** Path of the API that lists the objects. */
  path: `/${string}`;
  /** Member of the list's response that has the objects. `export` also uses it as the folder's name for new files. */
  member: string;
  /** Plural of the kind in messages, such as `MCP servers`. */
  plural: string;
  /** Further query parameters of the list. */
  query?: Readonly<Record<string, string>>;
  /** Returns the name of an object among those of its kind; absent: the member `name`. */
  nameOf?(definition: Record<string, unknown>): string;
  /** Converts an object of the API to the definition in its file; `undefined` if no file can describe it. */
  describeObject(view: JsonObject): JsonObject | undefined;
  /** Fills in defaults of a file's definition, so that it can be compared with the result of `describeObject`. */
  fillDefaults(definition: Record<string, unknown>): Record<string, unknown>;
  /** Converts a file's definition to the body of a request; absent: they are the same. */
  toRequest?(definition: Record<string, unknown>): Record<string, unknown>;
  /** Returns the name of the member that is a secret, which the service never returns; absent: the kind has none. */
  secretOf?(definition: Record<string, unknown>): string | undefined;
}

export const OBJECT_KINDS: readonly ObjectKind[] = [
  {
    kind: 'credential',
    path: '/api/credentials',
    member: 'credentials',
    plural: 'credentials',
    describeObject: ({
      name,
      kind,
      createdAt: _made,
      updatedAt: _changed,
      lastUsedAt: _used,
      lastError: _error,
      ...rest
    }) => withoutAbsent({ name, type: kind, ...rest }),
    // Files do not contain the secrets of the service, and no difference shows one.
    fillDefaults: (definition) => ({
      ...CREDENTIAL_DEFAULTS[textOf(definition['type'])],
      ...withoutSecret(definition),
    }),
    toRequest: ({ type, ...rest }) => ({ ...rest, kind: type }),
    secretOf: ({ type }) => SECRETS[textOf(type)],
  },
  {
    kind: 'model',
    path: '/api/models',
    member: 'models',
    plural: 'models',
    describeObject: ({ name, provider, model, baseUrl, auth, input }) =>
      withoutAbsent({ name, provider, model, baseUrl, auth, input: withoutEmpty(input) }),
    fillDefaults: ({ input, ...rest }) => ({ ...rest, ...(withoutEmpty(input) !== undefined && { input }) }),
  },
  {
    kind: 'mcp-server',
    path: '/api/mcp-servers',
    member: 'servers',
    plural: 'MCP servers',
    describeObject: ({ source, name, url, auth, allow, approve }) =>
      source === 'file' ? undefined : withoutAbsent({ name, url, auth, allow, approve }),
    fillDefaults: (definition) => definition,
  },
  {
    kind: 'agent',
    path: '/api/agents',
    member: 'agents',
    plural: 'agents',
    describeObject: ({ name, url, auth, policy }) => withoutAbsent({ name, url, auth, policy: withoutEmpty(policy) }),
    fillDefaults: ({ policy, ...rest }) => ({ ...rest, ...(withoutEmpty(policy) !== undefined && { policy }) }),
  },
  {
    kind: 'schedule',
    path: '/api/schedules',
    member: 'schedules',
    plural: 'schedules',
    describeObject: ({
      owner: _owner,
      paused: _paused,
      note: _note,
      nextTimes: _times,
      createdAt: _made,
      updatedAt: _changed,
      ...rest
    }) => withoutAbsent(rest),
    fillDefaults: (definition) => ({ inputs: {}, overlap: 'skip', catchUp: '10m', ...definition }),
  },
  {
    kind: 'trigger',
    path: '/api/triggers',
    member: 'triggers',
    plural: 'triggers',
    describeObject: ({ owner: _owner, url: _url, createdAt: _made, updatedAt: _changed, ...rest }) =>
      withoutAbsent(rest),
    fillDefaults: ({ run, ...rest }) => ({
      ...{ inputs: {}, ...rest },
      ...(run !== undefined && { run: isJsonObject(run) ? { statuses: ['completed'], ...run } : run }),
    }),
  },
  {
    kind: 'limit',
    path: '/api/limits',
    member: 'limits',
    plural: 'limits',
    describeObject: ({ createdAt: _made, updatedAt: _changed, ...rest }) => withoutAbsent(rest),
    fillDefaults: ({ allTenants, rate, ...rest }) => ({
      ...rest,
      ...(allTenants !== undefined && allTenants !== false && { allTenants }),
      ...(rate !== undefined && { rate: isJsonObject(rate) ? { burst: 1, ...rate } : rate }),
    }),
  },
  {
    kind: 'key',
    path: '/api/keys',
    member: 'keys',
    plural: 'keys',
    query: { hashes: 'true' },
    // A caller may have several keys, so the name in the file does not identify a key.
    nameOf: ({ name, hash }) => `${textOf(name)}-${textOf(hash).slice(0, 8)}`,
    // Keys of the environment, and keys that end, are not described by files.
    describeObject: ({ name, hash, scopes, createdBy, endsAt }) =>
      hash === undefined || createdBy === undefined || endsAt !== undefined
        ? undefined
        : withoutAbsent({ name, hash, scopes: sortedTexts(scopes) }),
    fillDefaults: ({ scopes = ['agents'], ...rest }) => ({ ...rest, scopes: sortedTexts(scopes) }),
  },
];

/** Returns the texts of a list in order, each once; any other value unchanged. */
function sortedTexts(value: unknown): unknown {
  return Array.isArray(value) ? [...new Set(value.map(String))].toSorted() : value;
}

/** Member with the secret of a credential, by the credential's type. */
const SECRETS: Readonly<Record<string, string>> = {
  'api-key': 'value',
  bearer: 'token',
  basic: 'password',
  'oauth2-client-credentials': 'clientSecret',
};

/** Defaults that the service fills in, by the credential's type. */
const CREDENTIAL_DEFAULTS: Readonly<Record<string, object>> = {
  'api-key': { in: 'header', parameter: 'X-API-Key' },
  'oauth2-client-credentials': { scopes: [], clientAuthentication: 'basic' },
};

function withoutSecret(definition: Record<string, unknown>): Record<string, unknown> {
  const secret = SECRETS[textOf(definition['type'])];
  return Object.fromEntries(Object.entries(definition).filter(([member]) => member !== secret));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the kind with a name, such as `credential`; `undefined` for a workflow and for unknown names. */
export function objectKind(name: string): ObjectKind | undefined {
  return OBJECT_KINDS.find(({ kind }) => kind === name);
}

/** Returns the name of an object among those of its kind. */
export function objectName(kind: string, definition: Record<string, unknown>): string {
  return objectKind(kind)?.nameOf?.(definition) ?? textOf(definition['name']);
}

/**
 * Returns the path in a file for a path in a request. They differ only for a credential: its `kind` is called `type` in
 * a file.
 */
export function memberInFile(kind: string, path: string): string {
  return kind === 'credential' && path === 'kind' ? 'type' : path;
}

/** Object of the service, as a file describes it. */
export interface SavedObject {
  kind: ObjectKind;
  name: string;
  definition: JsonObject;
  revision: string;
}

/**
 * Returns the key of an object among the last seen revisions of a folder: `kind/name`. The key of a workflow is its
 * name, which has no slash.
 */
export function objectKey(kind: string, name: string): string {
  return `${kind}/${name}`;
}

/**
 * Lists the objects of a kind, over all pages.
 * @returns `undefined` if the caller may not list them, or if the service does not have this kind
 */
export async function savedObjects(
  { client, signal }: Pick<Session, 'client' | 'signal'>,
  kind: ObjectKind,
): Promise<SavedObject[] | undefined> {
  const found: SavedObject[] = [];
  let pageToken = '';
  try {
    do {
      const query = { ...kind.query, ...(pageToken !== '' && { pageToken }) };
      const page: JsonObject = await client.call(kind.path, { query, signal });
      const views = page[kind.member];
      for (const view of Array.isArray(views) ? views : []) {
        const definition = isJsonObject(view) ? kind.describeObject(view) : undefined;
        if (!isJsonObject(view) || definition === undefined) continue;
        const name = objectName(kind.kind, definition);
        found.push({ kind, name, definition, revision: textOf(view['updatedAt']) });
      }
      pageToken = typeof page['nextPageToken'] === 'string' ? page['nextPageToken'] : '';
    } while (pageToken !== '');
    return found;
  } catch (error) {
    // A service that uses no keys has none.
    if (error instanceof ParleyError && error.status === 409) return [];
    if (error instanceof ParleyError && [403, 404].includes(error.status)) return undefined;
    throw error;
  }
}

function withoutAbsent(value: Record<string, unknown>): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, it]) => it !== undefined && it !== null)) as JsonObject;
}

/** Returns an object or list, but `undefined` if it is empty. */
function withoutEmpty(value: unknown): unknown {
  const isEmpty = value === undefined || value === null || Object.keys(value).length === 0;
  return isEmpty ? undefined : value;
}
