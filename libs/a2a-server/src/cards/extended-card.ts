import type { AgentDetails, ServedAgent } from '#libs/executor';
import type { AgentCard, AgentExtension, JsonObject } from '#libs/protocol';
import { SKILL_SCHEMAS } from '../extensions.js';
import { agentCard, type CardOptions } from './agent-card.js';

/** The card of an agent for callers that it knows: with more skills, examples, and what they take and give. */
export function extendedCard(agent: ServedAgent, baseUrl: string, path: string, options: CardOptions): AgentCard {
  const details = agent.details?.() ?? { skills: agent.skills, schemas: {} };
  const card = agentCard({ ...agent, skills: details.skills }, baseUrl, path, options);
  const extensions = [...(card.capabilities.extensions ?? []), ...schemaExtension(details)];
  return { ...card, capabilities: { ...card.capabilities, extensions } };
}

/** A skill of A2A 1.0 has no member for schemas: they are parameters of an extension. */
function schemaExtension({ schemas }: AgentDetails): AgentExtension[] {
  if (Object.keys(schemas).length === 0) return [];
  return [{ ...SKILL_SCHEMAS, params: { skills: schemas as unknown as JsonObject } }];
}
