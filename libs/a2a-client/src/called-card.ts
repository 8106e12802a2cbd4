import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import type { AgentCard, AgentExtension } from '#libs/protocol';

/** Maximum number of characters of each kept text, and of elements of each list. */
const LONGEST = 2_048;
const MOST = 100;

/** Part of an agent's card that calls need. Clients keep only this, however long the card is. */
export interface CalledCard extends Pick<AgentCard, 'name'> {
  capabilities: { extensions?: Pick<AgentExtension, 'uri'>[] };
  /** Default input media types; absent if the card has more than are kept. */
  defaultInputModes?: string[];
}

/**
 * Returns the part of a card that calls need, within limits. The card itself is not referenced.
 *
 * - A name beyond the limit is empty.
 * - Extensions beyond the limits count as not declared.
 */
export function calledCard({ name, capabilities, defaultInputModes }: SdkAgentCard): CalledCard {
  const uris = (capabilities?.extensions ?? []).map(({ uri }) => uri).filter(isKept);
  const modes = defaultInputModes.filter(isKept);
  return {
    name: isKept(name) ? name : '',
    capabilities: { extensions: uris.slice(0, MOST).map((uri) => ({ uri })) },
    ...(defaultInputModes.length <= MOST && { defaultInputModes: modes }),
  };
}

/** Returns the part of a card that the SDK's client needs. The card itself is not referenced. */
export function sdkCalledCard({ capabilities }: SdkAgentCard, chosen: SdkAgentCard['supportedInterfaces'][number]) {
  const { streaming, pushNotifications, extendedAgentCard } = capabilities ?? {};
  return {
    name: '',
    description: '',
    version: '',
    provider: undefined,
    supportedInterfaces: [chosen],
    capabilities: { streaming, pushNotifications, extendedAgentCard, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    signatures: [],
  } satisfies SdkAgentCard;
}

function isKept(text: unknown): text is string {
  return typeof text === 'string' && text.length <= LONGEST;
}
