import { type AgentCard, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
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

/** What readers of 0.3 look for (its section 5.5): schemes that say their `type`, and `security`. */
export interface LegacyCardSecurity {
  securitySchemes?: JsonObject;
  security?: JsonObject[];
}

/**
 * What a card of 1.0 says of credentials, in the words of 0.3 too. Both share one map of schemes, so the members of 0.3
 * stand within each scheme beside its one member of 1.0. They have the same values to the letter: some readers of 1.0 take
 * them in its place, and a signature is good for them as well.
 */
export function legacySecurity({ securitySchemes, securityRequirements }: AgentCard): LegacyCardSecurity {
  if (!securitySchemes) return {};
  const schemes = Object.entries(securitySchemes).map(([name, scheme]) => [name, withLegacyWords(scheme)] as const);
  return { securitySchemes: Object.fromEntries(schemes), security: securityRequirements?.map(legacyRequirement) };
}

function withLegacyWords(scheme: JsonValue | undefined): JsonValue {
  if (!isJsonObject(scheme)) return {};
  const { httpAuthSecurityScheme: http, apiKeySecurityScheme: apiKey } = scheme;
  if (isJsonObject(http)) return { type: 'http', ...http, ...scheme };
  if (!isJsonObject(apiKey)) return scheme;
  const { location, ...named } = apiKey;
  return { type: 'apiKey', in: location ?? '', ...named, ...scheme };
}

/** As in OpenAPI only schemes that hand out scopes have some; ours do not. */
function legacyRequirement({ schemes }: JsonObject): JsonObject {
  return Object.fromEntries(Object.keys(schemes ?? {}).map((name) => [name, []]));
}

function requirement(scheme: string): { schemes: { [name: string]: { list: string[] } } } {
  return { schemes: { [scheme]: { list: ['agents'] } } };
}
