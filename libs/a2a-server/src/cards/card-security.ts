import { type AgentCard, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { AuthMode } from '#libs/service';

/** Authentication of callers in a card (section 4.5): any one of the requirements is enough. */
export type CardSecurity = Pick<AgentCard, 'securitySchemes' | 'securityRequirements'>;

/**
 * Returns the authentication that cards declare; `undefined` if none is required. All agents share one auth guard and
 * need the scope `agents`.
 */
export function cardSecurity(mode: AuthMode): CardSecurity | undefined {
  if (mode === 'none') return undefined;
  const bearer = { httpAuthSecurityScheme: { scheme: 'Bearer', ...(mode === 'jwt' && { bearerFormat: 'JWT' }) } };
  if (mode === 'jwt') return { securitySchemes: { bearer }, securityRequirements: [schemeRequirement('bearer')] };
  const apiKey = { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } };
  return {
    securitySchemes: { bearer, apiKey },
    securityRequirements: [schemeRequirement('bearer'), schemeRequirement('apiKey')],
  };
}

/** Members that readers of 0.3 expect (its section 5.5): schemes with a `type`, and `security`. */
export interface LegacyCardSecurity {
  securitySchemes?: JsonObject;
  security?: JsonObject[];
}

/**
 * Returns the authentication of a card of 1.0 in the form of 0.3, too. Both share one map of schemes, so each scheme
 * has the members of 0.3 beside its one member of 1.0. The values are identical: some readers of 1.0 use the 0.3
 * members instead, and a signature then covers them.
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

/** Returns a requirement in the form of 0.3. As in OpenAPI, only schemes that issue scopes list some; these do not. */
function legacyRequirement({ schemes }: JsonObject): JsonObject {
  return Object.fromEntries(Object.keys(schemes ?? {}).map((name) => [name, []]));
}

function schemeRequirement(scheme: string): { schemes: { [name: string]: { list: string[] } } } {
  return { schemes: { [scheme]: { list: ['agents'] } } };
}
