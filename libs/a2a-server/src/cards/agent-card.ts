import type { AgentCapabilities, AgentCard, AgentSkill } from '#libs/protocol';
import type { ServedAgent } from '#libs/executor';
import { EXTENSIONS } from '../extensions.js';
import { agentUrl } from '../http/agent-base.js';

/** A card of A2A 1.0 that is also one of the founding dialect, which looks for the agent's URL at the top (row B4). */
export interface ServedAgentCard extends AgentCard {
  url: string;
}

/** What depends on what the process was made of. */
export type OptionalCapabilities = Pick<AgentCapabilities, 'pushNotifications'>;

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
    url,
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
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
