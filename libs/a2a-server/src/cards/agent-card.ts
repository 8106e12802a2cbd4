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
 * A card of A2A 1.0, whole, with the members beside it that clients of 0.3 look for: what those get who do not ask for
 * 1.0. Both versions ask a reader to leave aside what it does not know. The pre-1.0 dialect looks for `url` too.
 */
export interface LegacyAgentCard extends AgentCard, LegacyCardSecurity {
  protocolVersion: '0.3.0';
  url: string;
  preferredTransport: 'JSONRPC';
  additionalInterfaces: { url: string; transport: string }[];
  supportsAuthenticatedExtendedCard: boolean;
}

/** What depends on what the process was made of. */
export interface CardOptions extends Pick<AgentCapabilities, 'pushNotifications'> {
  /** Where the gRPC binding is, if it is on. */
  grpcUrl?: string;
  /** How callers say who they are, where they have to. */
  security?: CardSecurity;
}

const HTTP_BINDINGS = ['JSONRPC', 'HTTP+JSON'];

/**
 * In the order in which clients shall prefer them (section 8.3.2): 1.0 before 0.3. All agents share one gRPC endpoint;
 * the `tenant`, which a client sends with every request, says which of them is meant.
 */
function interfaces(url: string, path: string, grpcUrl: string | undefined): AgentInterface[] {
  const grpc: AgentInterface = { url: grpcUrl ?? '', protocolBinding: 'GRPC', protocolVersion: '1.0' };
  return [
    ...HTTP_BINDINGS.map((protocolBinding) => ({ url, protocolBinding, protocolVersion: '1.0' })),
    ...(grpcUrl === undefined ? [] : [path === '' ? grpc : { ...grpc, tenant: pathTenant(path) }]),
    ...HTTP_BINDINGS.map((protocolBinding) => ({ url, protocolBinding, protocolVersion: '0.3' })),
  ];
}

/**
 * The card of an agent (section 4.4.1) as it is reached at a path.
 * @param path the path that the caller used; for the alias of a node that is the alias
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
    supportedInterfaces: interfaces(agentUrl(baseUrl, path), path, grpcUrl),
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
    skills: skills(agent),
  };
}

/** The same card for readers of 0.3 too. A signature of 1.0 covers none of what they look for. */
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

/** Required lists are never empty (section 5.7), and each skill names its modes. */
function skills(agent: ServedAgent): AgentSkill[] {
  const { name, description } = agent;
  const declared = agent.skills.length > 0 ? agent.skills : [{ id: 'default', name, description, tags: [] }];
  return declared.map((skill) => ({
    ...skill,
    tags: skill.tags.length > 0 ? skill.tags : ['agent'],
    inputModes: skill.inputModes ?? agent.inputModes,
    outputModes: skill.outputModes ?? agent.outputModes,
  }));
}

/** The card of an agent for callers that it knows: with more skills, examples, and what they take and give. */
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

/** A skill of A2A 1.0 has no member for schemas: they are parameters of an extension. */
function schemaExtension({ schemas }: AgentDetails): AgentExtension[] {
  if (Object.keys(schemas).length === 0) return [];
  return [{ ...SKILL_SCHEMAS, params: { skills: schemas as unknown as JsonObject } }];
}
