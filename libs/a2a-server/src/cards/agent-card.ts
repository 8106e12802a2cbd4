import type {
  AgentCapabilities,
  AgentCard,
  AgentExtension,
  AgentInterface,
  AgentSkill,
  JsonObject,
} from '#libs/protocol';
import type { AgentDetails, ServedAgent } from '#libs/executor';
import { EXTENSIONS, SKILL_SCHEMAS } from '../extensions.js';
import { agentUrl } from '../http/agent-base.js';
import { type CardSecurity, type LegacyCardSecurity, legacySecurity } from './card-security.js';
import { pathTenant } from '../tenant-agent.js';

/**
 * Complete card of A2A 1.0 that also has the members of 0.3, for readers that do not request 1.0. Both versions require
 * readers to ignore unknown members. The pre-1.0 dialect reads `url`, too.
 */
export interface LegacyAgentCard extends AgentCard, LegacyCardSecurity {
  protocolVersion: '0.3.0';
  url: string;
  preferredTransport: 'JSONRPC';
  additionalInterfaces: { url: string; transport: string }[];
  supportsAuthenticatedExtendedCard: boolean;
}

/** Options of a card that depend on the process's configuration. */
export interface CardOptions extends Pick<AgentCapabilities, 'pushNotifications'> {
  /** Target of the gRPC binding, if it is on. */
  grpcUrl?: string;
  /** Authentication of callers, if it is required. */
  security?: CardSecurity;
}

const HTTP_BINDINGS = ['JSONRPC', 'HTTP+JSON'];

/**
 * Returns the interfaces in order of preference (section 8.3.2): 1.0 before 0.3. All agents share one gRPC endpoint;
 * the `tenant`, which clients send with every request, names the agent.
 */
function cardInterfaces(url: string, path: string, grpcUrl: string | undefined): AgentInterface[] {
  const grpc: AgentInterface = { url: grpcUrl ?? '', protocolBinding: 'GRPC', protocolVersion: '1.0' };
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
  return {
    name: agent.name,
    description: agent.description,
    supportedInterfaces: cardInterfaces(agentUrl(baseUrl, path), path, grpcUrl),
    version: agent.version,
    capabilities: {
      streaming: streaming ?? true,
      pushNotifications: (optional.pushNotifications ?? false) && (pushNotifications ?? true),
      extendedAgentCard: security !== undefined,
      extensions: [...EXTENSIONS, ...extensions],
    },
    defaultInputModes: agent.inputModes,
    defaultOutputModes: agent.outputModes,
    ...security,
    skills: cardSkills(agent),
  };
}

/** Returns a card with the members of 0.3 added. A signature of 1.0 does not cover those. */
export function withLegacyMembers(card: AgentCard): LegacyAgentCard {
  const [{ url } = { url: '' }] = card.supportedInterfaces;
  return {
    ...card,
    ...legacySecurity(card),
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: HTTP_BINDINGS.map((transport) => ({ url, transport })),
    supportsAuthenticatedExtendedCard: card.capabilities.extendedAgentCard ?? false,
  };
}

/** Returns the skills of an agent. Required lists are never empty (section 5.7), and each skill names its modes. */
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
