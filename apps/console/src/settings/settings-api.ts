import type { Schemas } from '#libs/client';
import { callApi, getJson, type Narrowed } from '../api/http.js';

export const KINDS = {
  'api-key': 'API key',
  bearer: 'Bearer token',
  basic: 'User and password',
  'oauth2-client-credentials': 'OAuth 2.0 client',
} as const satisfies Record<StoredCredentialKind, string>;

/** A credential without its secret. */
export type StoredCredential = Schemas['CredentialView'];
export type StoredCredentialKind = StoredCredential['kind'];
export type Key = Schemas['KeyView'];
export type PinnedCard = Schemas['CardView'];

/** A difference of a card from its pinned version. */
export interface CardDifference {
  path: string;
  kind: string;
  significant: boolean;
  before?: unknown;
  after?: unknown;
}

type CardChange = Narrowed<Schemas['CardChangeView'], { changes: CardDifference[] }>;
export type CardDetail = Narrowed<Schemas['CardDetailView'], { changes: CardChange[] }>;

export async function listCredentials(signal: AbortSignal): Promise<StoredCredential[]> {
  return (await getJson<Schemas['CredentialListView']>('/api/credentials', signal)).credentials;
}

export async function listKeys(signal: AbortSignal): Promise<Key[]> {
  return (await getJson<Schemas['KeyListView']>('/api/keys', signal)).keys;
}

/** Kinds of objects that are stored under a name. */
export type StoredKind = 'models' | 'agents' | 'mcp-servers' | 'credentials';

/**
 * Creates an object, or replaces the one with this name.
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export function storeObject(kind: StoredKind, name: string | undefined, body: object): Promise<unknown> {
  if (name === undefined) return callApi('POST', `/api/${kind}`, { body });
  return callApi('PUT', `/api/${kind}/${encodeURIComponent(name)}`, { body });
}

/**
 * Deletes an object.
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export function deleteObject(kind: StoredKind | 'keys', id: string): Promise<unknown> {
  return callApi('DELETE', `/api/${kind}/${encodeURIComponent(id)}`);
}
