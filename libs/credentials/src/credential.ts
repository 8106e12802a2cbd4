/** How a caller proves itself, without the secret. */
export type CredentialSettings = ApiKeySettings | BearerSettings | BasicSettings | OAuth2Settings;

interface SharedSettings {
  /** The origins that it may be sent to; absent: that of the agent's URL as a workflow names it. */
  hosts?: string[];
}

/** A key in a header, in the query, or in a cookie. */
export interface ApiKeySettings extends SharedSettings {
  kind: 'api-key';
  in: 'header' | 'query' | 'cookie';
  /** The name of the header, query parameter or cookie, where the agent's card names none. */
  parameter: string;
}

/** A token that somebody else issued (RFC 6750). */
export interface BearerSettings extends SharedSettings {
  kind: 'bearer';
}

/** RFC 7617. */
export interface BasicSettings extends SharedSettings {
  kind: 'basic';
  username: string;
}

/** Short-lived tokens of an authorization server (RFC 6749, section 4.4). */
export interface OAuth2Settings extends SharedSettings {
  kind: 'oauth2-client-credentials';
  tokenUrl: string;
  clientId: string;
  scopes: string[];
  audience?: string;
  /** How the client says who it is: in the Authorization header or in the body (RFC 6749, section 2.3.1). */
  clientAuthentication: 'basic' | 'body';
}

export type CredentialKind = CredentialSettings['kind'];

export const CREDENTIAL_KINDS = ['api-key', 'bearer', 'basic', 'oauth2-client-credentials'] as const;

/** What names of credentials look like. */
export const CREDENTIAL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Whose credential, and which. */
export interface CredentialId {
  tenant: string;
  name: string;
}

/** A credential as its keepers see it: never its secret. */
export interface Credential extends CredentialId {
  settings: CredentialSettings;
  createdAt: Date;
  updatedAt: Date;
  /** To within ten seconds. */
  lastUsedAt?: Date;
  lastError?: { at: Date; message: string };
}

/** A credential as calls use it. */
export interface UsableCredential extends CredentialId {
  settings: CredentialSettings;
  secret: string;
  /** Another one after each change. */
  version: string;
}
