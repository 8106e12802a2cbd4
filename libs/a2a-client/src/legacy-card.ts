import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/**
 * A card of A2A 0.2 or 0.3 as the SDK can read it. It refuses a card for a list that is missing and for a way to prove
 * who calls that it does not know; neither says that the agent cannot be called.
 */
export function readableLegacyCard(card: JsonObject): JsonObject {
  const { securitySchemes } = card;
  return {
    ...card,
    capabilities: isJsonObject(card.capabilities) ? card.capabilities : {},
    defaultInputModes: listOf(card.defaultInputModes),
    defaultOutputModes: listOf(card.defaultOutputModes),
    skills: listOf(card.skills)
      .filter(isJsonObject)
      .map((skill) => ({ ...skill, tags: listOf(skill.tags) })),
    ...(isJsonObject(securitySchemes) && { securitySchemes: knownSchemes(securitySchemes) }),
  };
}

const SCHEMES = new Set<JsonValue | undefined>(['apiKey', 'http', 'openIdConnect', 'mutualTLS']);
const FLOWS = ['authorizationCode', 'clientCredentials', 'implicit', 'password'];

function knownSchemes(schemes: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemes).filter(([, scheme]) => isJsonObject(scheme) && isKnown(scheme)));
}

function isKnown({ type, flows }: JsonObject): boolean {
  if (type === 'oauth2') return isJsonObject(flows) && FLOWS.some((flow) => isJsonObject(flows[flow]));
  return SCHEMES.has(type);
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
