import type { AgentCard } from '#libs/protocol';
import type { AuthMode } from '#libs/service';

/** What a card says of how callers identify themselves (section 4.5): any one of the requirements is enough. */
export type CardSecurity = Pick<AgentCard, 'securitySchemes' | 'securityRequirements'>;

/** `undefined` where nobody is asked. Every agent stands behind the same auth guard, and needs the scope `agents`. */
export function cardSecurity(mode: AuthMode): CardSecurity | undefined {
  if (mode === 'none') return undefined;
  const bearer = { httpAuthSecurityScheme: { scheme: 'Bearer', ...(mode === 'jwt' && { bearerFormat: 'JWT' }) } };
  if (mode === 'jwt') return { securitySchemes: { bearer }, securityRequirements: [requirement('bearer')] };
  const apiKey = { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } };
  return {
    securitySchemes: { bearer, apiKey },
    securityRequirements: [requirement('bearer'), requirement('apiKey')],
  };
}

function requirement(scheme: string): { schemes: { [name: string]: { list: string[] } } } {
  return { schemes: { [scheme]: { list: ['agents'] } } };
}
