/** Settings of a credential for calls to agents, models and MCP servers, without its secret. */
export type CredentialSettings = ApiKeySettings | BearerSettings | BasicSettings | OAuth2Settings;

interface SharedSettings {
  /** Origins that may receive the credential; absent: the origin of the agent's URL in a workflow. */
  hosts?: string[];
}

/** API key in a header, in the query, or in a cookie. */
export interface ApiKeySettings extends SharedSettings {
  kind: 'api-key';
  in: 'header' | 'query' | 'cookie';
  /** Name of the header, query parameter or cookie if the agent's card names none. */
  parameter: string;
}

/** Bearer token that another party issued (RFC 6750). */
interface BearerSettings extends SharedSettings {
  kind: 'bearer';
}

/** User name and password of Basic authentication (RFC 7617). */
interface BasicSettings extends SharedSettings {
  kind: 'basic';
  username: string;
}

/** Client credentials for short-lived tokens of an authorization server (RFC 6749, section 4.4). */
export interface OAuth2Settings extends SharedSettings {
  kind: 'oauth2-client-credentials';
  tokenUrl: string;
  clientId: string;
  scopes: string[];
  audience?: string;
  /**
   * Place of the client's credentials in a token request: the Authorization header or the body (RFC 6749,
   * section 2.3.1).
   */
  clientAuthentication: 'basic' | 'body';
}

export type CredentialKind = CredentialSettings['kind'];

export const CREDENTIAL_KINDS = ['api-key', 'bearer', 'basic', 'oauth2-client-credentials'] as const;

/** Form of a credential's name. */
export const CREDENTIAL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Tenant and name of a credential. */
export interface CredentialId {
  tenant: string;
  name: string;
}

/** Credential as its owner sees it, without the secret. */
export interface Credential extends CredentialId {
  settings: CredentialSettings;
  createdAt: Date;
  updatedAt: Date;
  /** Time of the last use, accurate to ten seconds. */
  lastUsedAt?: Date;
  lastError?: { at: Date; message: string };
}

/** Credential as calls use it: with its decrypted secret. */
export interface UsableCredential extends CredentialId {
  settings: CredentialSettings;
  secret: string;
  /** Id that changes with each replacement of the credential. */
  version: string;
}

/**
 * True if a credential may be sent to the endpoint of a call.
 * - If the credential has `hosts`, the origin of the endpoint must be in that list.
 * - Otherwise the origin of the endpoint must be that of the agent's URL in the workflow, even if the agent's card
 *   names another endpoint.
 * @param endpoint URL that the call goes to
 * @param agentUrl URL of the agent in the workflow; `undefined` if no trusted source names one
 */
export function mayGoTo({ hosts }: CredentialSettings, endpoint: URL, agentUrl: string | undefined): boolean {
  if (hosts !== undefined) return hosts.includes(endpoint.origin);
  return agentUrl !== undefined && URL.canParse(agentUrl) && new URL(agentUrl).origin === endpoint.origin;
}

/**
 * Returns the origin of an entry of `hosts`: `api.example.com` is `https://api.example.com`. Returns `undefined` for
 * other text.
 */
export function originOf(entry: string): string | undefined {
  const text = /^https?:\/\//i.test(entry) ? entry : `https://${entry}`;
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname, search, hash, username, password } = new URL(text);
  const more = `${search}${hash}${username}${password}`;
  return pathname === '/' && more === '' && !/[\s@?#*]/.test(entry) ? origin : undefined;
}
