import { ParleyError } from '#libs/client';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import type { Session } from './session.js';

/** Kind of object, other than a workflow, that files describe with `kind`. */
export interface ObjectKind {
  kind: string;
  /** Path of the API that lists the objects. */
  path: `/${string}`;
  /** Member of the list's response. It is also the folder of new files. */
  member: string;
  /** Plural in texts. */
  plural: string;
  /** Converts an object of the API to the definition of its file; `undefined` if no file can describe it. */
  toDefinition(view: JsonObject): JsonObject | undefined;
  /** Fills in defaults of a file's definition, so that it can be compared with that of `toDefinition`. */
  fillDefaults(definition: Record<string, unknown>): Record<string, unknown>;
  /** Identity of an object among those of its kind; absent: its name. */
  idOf?(definition: Record<string, unknown>): string | undefined;
}

export const OBJECT_KINDS: readonly ObjectKind[] = [
  {
    kind: 'agent',
    path: '/api/agents',
    member: 'agents',
    plural: 'agents',
    toDefinition: ({ name, url, auth, policy }) => withoutAbsent({ name, url, auth, policy: withoutEmpty(policy) }),
    fillDefaults: ({ policy, ...rest }) => ({ ...rest, ...(withoutEmpty(policy) !== undefined && { policy }) }),
  },
];

/** Returns the kind of a name; `undefined` for a workflow and for unknown names. */
export function objectKind(name: string): ObjectKind | undefined {
  return OBJECT_KINDS.find(({ kind }) => kind === name);
}

/** Object of the service, as a file describes it. */
export interface SavedObject {
  kind: ObjectKind;
  name: string;
  definition: JsonObject;
  revision: string;
}

/** Key of an object among the last seen revisions of a folder. Workflows have no slash in their keys. */
export function objectKey(kind: string, name: string): string {
  return `${kind}/${name}`;
}

/**
 * Lists the objects of a kind, over all pages. @returns `undefined` if the caller may not list them, or if the service
 * does not have this kind
 */
export async function savedObjects(
  { client, signal }: Pick<Session, 'client' | 'signal'>,
  kind: ObjectKind,
): Promise<SavedObject[] | undefined> {
  const found: SavedObject[] = [];
  let pageToken = '';
  try {
    do {
      const query: Record<string, string> = pageToken === '' ? {} : { pageToken };
      const page: JsonObject = await client.call(kind.path, { query, signal });
      const views = page[kind.member];
      for (const view of Array.isArray(views) ? views : []) {
        const definition = isJsonObject(view) ? kind.toDefinition(view) : undefined;
        if (!isJsonObject(view) || definition === undefined) continue;
        found.push({ kind, name: textIn(view, 'name'), definition, revision: textIn(view, 'updatedAt') });
      }
      pageToken = typeof page['nextPageToken'] === 'string' ? page['nextPageToken'] : '';
    } while (pageToken !== '');
    return found;
  } catch (error) {
    if (error instanceof ParleyError && [403, 404, 409].includes(error.status)) return undefined;
    throw error;
  }
}

function textIn(view: JsonObject, member: string): string {
  const value = view[member];
  return typeof value === 'string' ? value : '';
}

function withoutAbsent(value: Record<string, unknown>): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, it]) => it !== undefined && it !== null)) as JsonObject;
}

/** Returns an object or list, but `undefined` if it is empty. */
function withoutEmpty(value: unknown): unknown {
  const isEmpty = value === undefined || value === null || Object.keys(value).length === 0;
  return isEmpty ? undefined : value;
}
