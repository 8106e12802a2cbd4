import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import type { JsonObject } from '#libs/protocol';
import type { AgentCallOptions } from './agent-client.js';

/** Card as received. Equal text from the same URL is the same object. */
export interface ReceivedCard {
  /** URL that it was read from. */
  readonly url: string;
  /** Received JSON text. */
  readonly text: string;
  /** Card in the SDK's form, which clients use. */
  readonly card: SdkAgentCard;
}

/** Decides by its card whether an agent may be called. */
export abstract class CardGuard {
  /**
   * Admits a remote agent; called for every client. Returns `undefined` synchronously if the card was admitted before.
   * @param agentUrl URL as the caller named it
   * @param received `undefined` if the agent has no card
   * @throws AgentCallError `untrusted-card` or `changed-card`; `connect` if the decision is not possible at the moment
   */
  abstract admitCard(
    agentUrl: string,
    received: ReceivedCard | undefined,
    options: AgentCallOptions,
  ): Promise<void> | undefined;

  /** Returns the pinned card of an agent; `undefined` if there is none that may be used. */
  abstract findPinnedCard(agentUrl: string, options: Pick<AgentCallOptions, 'scope'>): Promise<JsonObject | undefined>;
}
