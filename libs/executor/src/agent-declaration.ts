import type { AgentCapabilities } from '#libs/protocol';

/** `false` turns off what every agent of the service can do; extensions stand beside those of the service. */
export type DeclaredCapabilities = Pick<AgentCapabilities, 'streaming' | 'pushNotifications' | 'extensions'>;

/** What the card of an agent says, where that is not what the cards of all such agents say. */
export interface AgentDeclaration {
  inputModes?: string[];
  outputModes?: string[];
  capabilities?: DeclaredCapabilities;
}
