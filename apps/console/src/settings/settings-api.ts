import { callApi, getJson } from '../api/http.js';

export const KINDS = {
  'api-key': 'API key',
  bearer: 'Bearer token',
  basic: 'User and password',
  'oauth2-client-credentials': 'OAuth 2.0 client',
} as const;

export type StoredCredentialKind = keyof typeof KINDS;

/** A credential without its secret. */
export interface StoredCredential {
  name: string;
  kind: StoredCredentialKind;
  hosts?: string[];
  in?: string;
  parameter?: string;
  username?: string;
  tokenUrl?: string;
  clientId?: string;
  scopes?: string[];
  audience?: string;
  clientAuthentication?: string;
  updatedAt: string;
  lastUsedAt?: string;
  lastError?: { at: string; message: string };
}

export interface Key {
  id: string;
  name: string;
  scopes: string[];
  createdAt: string;
  createdBy?: string;
  endsAt?: string;
}

export interface PinnedCard {
  id: string;
  url: string;
  name: string;
  status: 'pinned' | 'changed';
  blocked: boolean;
  seenHash?: string;
  lastSeenAt: string;
}

export interface CardDetail extends PinnedCard {
  card: unknown;
  seenCard?: unknown;
  changes: {
    to: string;
    firstSeenAt: string;
    acceptedAt?: string;
    changes: { path: string; kind: string; significant: boolean; before?: unknown; after?: unknown }[];
  }[];
}

export async function listCredentials(signal: AbortSignal): Promise<StoredCredential[]> {
  return (await getJson<{ credentials: StoredCredential[] }>('/api/credentials', signal)).credentials;
}

export async function listKeys(signal: AbortSignal): Promise<Key[]> {
  return (await getJson<{ keys: Key[] }>('/api/keys', signal)).keys;
}

/** Kinds of objects that are stored under a name. */
export type StoredKind = 'models' | 'mcp-servers' | 'credentials';

/**
 * Creates an object, or replaces the one with this name.
 * @throws ApiProblem
 */
export function storeObject(kind: StoredKind, name: string | undefined, body: object): Promise<unknown> {
  if (name === undefined) return callApi('POST', `/api/${kind}`, { body });
  return callApi('PUT', `/api/${kind}/${encodeURIComponent(name)}`, { body });
}

/**
 * Deletes an object.
 * @throws ApiProblem
 */
export function deleteObject(kind: StoredKind | 'keys', id: string): Promise<unknown> {
  return callApi('DELETE', `/api/${kind}/${encodeURIComponent(id)}`);
}
