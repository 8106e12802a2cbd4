import type { AgentCapabilities, AgentCard, AgentInterface, AgentSkill } from '#libs/protocol';
import type { ServedAgent } from '#libs/executor';
import { EXTENSIONS } from '../extensions.js';
import { agentUrl } from '../http/agent-base.js';

/**
 * A card of A2A 1.0, whole, with the members beside it that clients of 0.3 look for. Both versions ask a reader to leave
 * aside what it does not know. The founding dialect looks for `url` too (row B4).
 */
export interface ServedAgentCard extends AgentCard {
  protocolVersion: '0.3.0';
  url: string;
  preferredTransport: 'JSONRPC';
  additionalInterfaces: { url: string; transport: string }[];
  supportsAuthenticatedExtendedCard: boolean;
}

/** What depends on what the process was made of. */
export type OptionalCapabilities = Pick<AgentCapabilities, 'pushNotifications'>;

const LEGACY_TRANSPORTS = ['JSONRPC', 'HTTP+JSON'];

/** In the order in which clients shall prefer them (section 8.3.2): 1.0 before 0.3. */
const INTERFACES: readonly Omit<AgentInterface, 'url'>[] = [
  { protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  { protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  { protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  { protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
];

/**
 * The card of an agent (section 4.4.1) as it is reached at a path.
 * @param path the path that the caller used; for the alias of a node that is the alias
 */
export function agentCard(
  agent: ServedAgent,
  baseUrl: string,
  path = agent.path,
  optional: OptionalCapabilities = {},
): ServedAgentCard {
  const url = agentUrl(baseUrl, path);
  return {
    name: agent.name,
    description: agent.description,
    supportedInterfaces: INTERFACES.map((it) => ({ url, ...it })),
    version: agent.version,
    capabilities: {
      streaming: true,
      pushNotifications: optional.pushNotifications ?? false,
      extendedAgentCard: false,
      extensions: [...EXTENSIONS],
    },
    defaultInputModes: agent.inputModes,
    defaultOutputModes: agent.outputModes,
    skills: skills(agent),
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: LEGACY_TRANSPORTS.map((transport) => ({ url, transport })),
    supportsAuthenticatedExtendedCard: false,
  };
}

/** Required lists are never empty (section 5.7), and each skill names its modes (row B4). */
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
