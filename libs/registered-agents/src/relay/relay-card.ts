import { AgentCallError } from '#libs/a2a-client';
import type { ForwardedCard } from '#libs/agents';
import type { AgentCard, AgentExtension, AgentSkill } from '#libs/protocol';

/** Bindings over which a call can name the extensions that it uses. */
const CARRYING = new Set(['JSONRPC', 'HTTP+JSON']);

/**
 * Returns the members of an agent's card that its card at this service keeps: name, description, version, skills,
 * modes, provider and addresses of documents. Interfaces, security and signatures are those of this service.
 */
export function forwardedCard(card: AgentCard): ForwardedCard {
  const {
    supportedInterfaces: _interfaces,
    capabilities: _capabilities,
    securitySchemes: _schemes,
    securityRequirements: _requirements,
    signatures: _signatures,
    skills,
    ...kept
  } = card;
  return { ...kept, skills: skills.map(withoutSecurity) };
}

/** Returns the extensions of an agent's card, without those that every card of this service declares. */
export function forwardedExtensions({ capabilities }: AgentCard): AgentExtension[] {
  return (capabilities.extensions ?? []).filter(({ uri }) => !uri.startsWith('urn:parley:extension:'));
}

/**
 * Rejects an agent that requires an extension but has no interface of A2A 1.0 over JSON-RPC or HTTP+JSON. Only over
 * those can this service pass on the extensions that a caller activates.
 * @throws AgentCallError `refused`
 */
export function requireCarried({ capabilities, supportedInterfaces }: AgentCard): void {
  const required = capabilities.extensions?.find((it) => it.required);
  const isCarried = supportedInterfaces.some(
    ({ protocolBinding, protocolVersion }) => CARRYING.has(protocolBinding) && protocolVersion.startsWith('1.'),
  );
  if (required === undefined || isCarried) return;
  throw new AgentCallError('refused', `the agent requires the extension ${required.uri}, which cannot be passed on`);
}

/** Returns a skill without the security that the agent requires for it. */
function withoutSecurity(skill: AgentSkill): AgentSkill {
  const { securityRequirements: _own, ...rest } = skill as AgentSkill & { securityRequirements?: unknown };
  return rest;
}
