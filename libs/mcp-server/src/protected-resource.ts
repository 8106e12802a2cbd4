import type { JsonObject } from '#libs/protocol';

/** Where RFC 9728 has the metadata of a resource: before its path. */
export const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';

/** Who gives out tokens for an MCP endpoint, and which scope they need (RFC 9728). */
export function protectedResource(baseUrl: string, path: string, issuer: string): JsonObject {
  return {
    resource: `${baseUrl}${path}`,
    authorization_servers: [issuer],
    scopes_supported: ['agents'],
    bearer_methods_supported: ['header'],
  };
}

/** The parameter of a challenge that leads there. */
export function resourceMetadata(baseUrl: string, path: string): string {
  return `resource_metadata="${baseUrl}${PROTECTED_RESOURCE}${path}"`;
}
