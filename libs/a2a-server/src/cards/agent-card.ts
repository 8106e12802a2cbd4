import type { AgentDetails, ServedAgent } from '#libs/agents';
import {
  type AgentCapabilities,
  type AgentCard,
  type AgentExtension,
  type AgentInterface,
  type AgentSkill,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '#libs/protocol';
import type { AuthMode } from '#libs/service';
import { EXTENSIONS, SKILL_SCHEMAS } from '../extensions.js';
import { agentTarget, isHostOfAgent } from '../grpc/grpc-hosts.js';
import { agentUrl, pathTenant } from '../http/call-context.js';

/** Authentication that a card requires of callers (section 4.5). Any one of the requirements is enough. */
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

/** Security members that readers of A2A 0.3 expect (section 5.5 of 0.3): schemes with a `type`, and `security`. */
interface LegacyCardSecurity {
  securitySchemes?: JsonObject;
  security?: JsonObject[];
}

/**
 * Returns the security members of a card of 1.0, extended by the form of 0.3.
 * - Both versions share one map of schemes, so each scheme has the members of 0.3 in addition to its one member of 1.0.
 * - Both forms express the same requirements. Some readers of 1.0 prefer the members of 0.3 and convert them to 1.0;
 *   the result must equal the content that the signature covers.
 */
function legacySecurity({ securitySchemes, securityRequirements }: AgentCard): LegacyCardSecurity {
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

/**
 * Returns a requirement in the form of 0.3. The lists of scopes are empty: as in OpenAPI, only schemes that issue
 * scopes list them, and the schemes of Parley issue none.
 */
function legacyRequirement({ schemes }: JsonObject): JsonObject {
  return Object.fromEntries(Object.keys(schemes ?? {}).map((name) => [name, []]));
}

function schemeRequirement(scheme: string): { schemes: { [name: string]: { list: string[] } } } {
  return { schemes: { [scheme]: { list: ['agents'] } } };
}

/**
 * Complete card of A2A 1.0 that also has the members of 0.3, for readers that do not request 1.0. Both versions require
 * readers to ignore unknown members. Clients of the pre-1.0 dialect also read `url`.
 */
export interface LegacyAgentCard extends AgentCard, LegacyCardSecurity {
  protocolVersion: '0.3.0';
  url: string;
  preferredTransport: 'JSONRPC';
  additionalInterfaces: { url: string; transport: string }[];
  supportsAuthenticatedExtendedCard: boolean;
}

/** Parts of a card that depend on the configuration of the process. */
export interface CardOptions extends Pick<AgentCapabilities, 'pushNotifications'> {
  /** Target of the gRPC binding (`host:port`, as clients use it); absent if the binding is off. */
  grpcUrl?: string;
  /** Authentication that callers need; absent if none is required. */
  security?: CardSecurity;
}

const HTTP_BINDINGS = ['JSONRPC', 'HTTP+JSON'];

/**
 * Returns the interfaces of a card in order of preference (section 8.3.2): 1.0 before 0.3. All agents share one gRPC
 * endpoint; its `tenant`, which clients send with every request, names the agent. If the configured target contains
 * `*`, the host name in the card names the agent as well (`agentTarget`).
 */
function cardInterfaces(url: string, path: string, grpcUrl: string | undefined): AgentInterface[] {
  const target = agentTarget(grpcUrl ?? '', path);
  const grpc: AgentInterface = { url: target, protocolBinding: 'GRPC', protocolVersion: '1.0' };
  return [
    ...HTTP_BINDINGS.map((protocolBinding) => ({ url, protocolBinding, protocolVersion: '1.0' })),
    ...(grpcUrl === undefined ? [] : [path === '' ? grpc : { ...grpc, tenant: pathTenant(path) }]),
    ...HTTP_BINDINGS.map((protocolBinding) => ({ url, protocolBinding, protocolVersion: '0.3' })),
  ];
}

/**
 * Returns the card of an agent (section 4.4.1) as reached at a path.
 * @param path path that the caller used; for the alias of a node, the alias
 */
export function agentCard(
  agent: ServedAgent,
  baseUrl: string,
  path = agent.path,
  { grpcUrl, security, ...optional }: CardOptions = {},
): AgentCard {
  const { streaming, pushNotifications, extensions = [] } = agent.capabilities ?? {};
  const own = {
    supportedInterfaces: cardInterfaces(agentUrl(baseUrl, path), path, grpcUrl),
    capabilities: {
      streaming: streaming ?? true,
      pushNotifications: (optional.pushNotifications ?? false) && (pushNotifications ?? true),
      extendedAgentCard: security !== undefined,
      extensions: [...EXTENSIONS, ...extensions],
    },
    ...security,
  };
  if (agent.card) return { ...agent.card, ...own };
  const { name, description, version } = agent;
  return {
    ...{ name, description, version, ...own },
    defaultInputModes: agent.inputModes,
    defaultOutputModes: agent.outputModes,
    skills: cardSkills(agent),
  };
}

/**
 * Returns the gRPC interface of a card for readers of 0.3, as a list of one. The list is empty if only the `tenant` of
 * the interface names the agent: clients of 0.3 send no tenant, so their calls would reach the service instead of the
 * agent.
 */
function legacyGrpc({ supportedInterfaces }: AgentCard): { url: string; transport: string }[] {
  const grpc = supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC');
  if (grpc === undefined || (grpc.tenant !== undefined && !isHostOfAgent(grpc.url, grpc.tenant))) return [];
  return [{ url: grpc.url, transport: 'GRPC' }];
}

/**
 * Returns a card with the members of 0.3 added. The signature covers only the content of 1.0, not the added members.
 */
export function withLegacyMembers(card: AgentCard): LegacyAgentCard {
  const [{ url } = { url: '' }] = card.supportedInterfaces;
  return {
    ...card,
    ...legacySecurity(card),
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [...HTTP_BINDINGS.map((transport) => ({ url, transport })), ...legacyGrpc(card)],
    supportsAuthenticatedExtendedCard: card.capabilities.extendedAgentCard ?? false,
  };
}

/**
 * Returns the skills of an agent for its card. Required lists are never empty (section 5.7), and each skill names its
 * input and output modes.
 */
function cardSkills(agent: ServedAgent): AgentSkill[] {
  const { name, description } = agent;
  const declared = agent.skills.length > 0 ? agent.skills : [{ id: 'default', name, description, tags: [] }];
  return declared.map((skill) => ({
    ...skill,
    tags: skill.tags.length > 0 ? skill.tags : ['agent'],
    inputModes: skill.inputModes ?? agent.inputModes,
    outputModes: skill.outputModes ?? agent.outputModes,
  }));
}

/** Returns the card of an agent for authenticated callers, with more skills, examples, and schemas. */
export async function extendedCard(
  agent: ServedAgent,
  baseUrl: string,
  path: string,
  options: CardOptions,
): Promise<AgentCard> {
  const details = (await agent.details?.()) ?? { skills: agent.skills, schemas: {} };
  const skills = [...details.skills, ...((await agent.innerSkills?.()) ?? [])];
  const card = agentCard({ ...agent, skills }, baseUrl, path, options);
  const extensions = [...(card.capabilities.extensions ?? []), ...schemaExtension(details)];
  return { ...card, capabilities: { ...card.capabilities, extensions } };
}

/** Returns the extension whose parameters hold the schemas of skills; a skill of A2A 1.0 has no member for them. */
function schemaExtension({ schemas }: AgentDetails): AgentExtension[] {
  if (Object.keys(schemas).length === 0) return [];
  return [{ ...SKILL_SCHEMAS, params: { skills: schemas as unknown as JsonObject } }];
}
