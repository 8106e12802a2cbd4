import type { JsonObject } from '#libs/protocol';

/** Path prefix of the metadata of a protected resource (RFC 9728). */
export const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';

/** Returns the metadata of an MCP endpoint: the issuer of tokens and the required scope (RFC 9728). */
export function protectedResource(baseUrl: string, path: string, issuer: string): JsonObject {
  return {
    resource: `${baseUrl}${path}`,
    authorization_servers: [issuer],
    scopes_supported: ['agents'],
    bearer_methods_supported: ['header'],
  };
}

/** Returns the parameter of a challenge that points to the metadata. */
export function resourceMetadata(baseUrl: string, path: string): string {
  return `resource_metadata="${baseUrl}${PROTECTED_RESOURCE}${path}"`;
}
