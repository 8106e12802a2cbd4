import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import type { JsonObject } from '#libs/protocol';
import type { CallOptions } from './agent-client.js';

/** A card as its agent gave it. The same text from the same place is the same object. */
export interface ReceivedCard {
  /** Where it was read. */
  readonly url: string;
  /** As it came: JSON. */
  readonly text: string;
  /** What clients go by. */
  readonly card: SdkAgentCard;
}

/** Decides whether an agent may be called by what its card says. */
export abstract class CardGuard {
  /**
   * Asked for every client of an agent over the network; gives `undefined` at once for what it has let pass before.
   * @param agentUrl as the caller named it
   * @param received `undefined` where the agent has no card
   * @throws AgentCallError `untrusted-card` or `changed-card`; `connect` where it cannot be told at the moment
   */
  abstract admit(agentUrl: string, received: ReceivedCard | undefined, options: CallOptions): Promise<void> | undefined;

  /** Returns the card by which an agent was let pass before; `undefined` where none is kept that may be used. */
  abstract pinned(agentUrl: string, options: Pick<CallOptions, 'scope'>): Promise<JsonObject | undefined>;
}
