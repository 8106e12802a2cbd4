import { createHash } from 'node:crypto';
import { A2AError } from '#libs/protocol';
import type { CallContext, ServedAgent } from '#libs/executor';
import type { PublicAddress } from '../http/call-context.js';
import { agentCard, type CardOptions, type ServedAgentCard } from './agent-card.js';
import type { CardSecurity } from './card-security.js';
import type { CardSigner } from './card-signer.js';
import { extendedCard } from './extended-card.js';

export interface ServedCardsOptions {
  address: PublicAddress;
  pushNotifications?: boolean;
  /** What cards say of credentials; absent where nobody is asked for them. */
  security?: CardSecurity;
  /** Absent: cards are not signed. */
  signer?: CardSigner;
}

/** A card as it goes out. */
export interface WrittenCard {
  json: string;
  /** Of its content without the signatures: those of two replicas differ, and are equally good (RFC 9110, section 8.8.1). */
  etag: string;
}

/** The cards of the agents of this process. */
export class ServedCards {
  constructor(private readonly options: ServedCardsOptions) {}

  /** Whether callers are known, so that what a card says may depend on them. */
  get personal(): boolean {
    return this.options.security !== undefined;
  }

  /** The card that everyone sees. @param path where the caller reached the agent */
  publicCard(agent: ServedAgent, baseUrl: string, path: string): Promise<WrittenCard> {
    return this.written(agentCard(agent, baseUrl, path, this.cardOptions(baseUrl)), baseUrl);
  }

  /**
   * What a caller that is known sees of an agent (sections 3.1.11 and 13.3).
   * @throws A2AError UNSUPPORTED_OPERATION where nobody is asked who they are
   */
  async extendedCard(agent: ServedAgent, call: Pick<CallContext, 'agent' | 'baseUrl'>): Promise<ServedAgentCard> {
    if (!this.personal) {
      throw new A2AError('UNSUPPORTED_OPERATION', { message: 'This agent has no extended agent card' });
    }
    const { baseUrl } = call;
    return this.signed(extendedCard(agent, baseUrl, call.agent, this.cardOptions(baseUrl)), baseUrl);
  }

  private cardOptions(baseUrl: string): CardOptions {
    const { pushNotifications, security, address } = this.options;
    return { pushNotifications, security, grpcUrl: address.publicGrpcTarget?.(baseUrl) };
  }

  private async written(card: ServedAgentCard, baseUrl: string): Promise<WrittenCard> {
    const json = JSON.stringify(card);
    const digest = digestOf(json);
    const signature = await this.options.signer?.signature(card, baseUrl, digest);
    if (!signature) return { json, etag: `"${digest}"` };
    return { json: `${json.slice(0, -1)},"signatures":[${JSON.stringify(signature)}]}`, etag: `W/"${digest}"` };
  }

  private async signed(card: ServedAgentCard, baseUrl: string): Promise<ServedAgentCard> {
    const signature = await this.options.signer?.signature(card, baseUrl, digestOf(JSON.stringify(card)));
    return signature ? { ...card, signatures: [signature] } : card;
  }
}

/** The ETag of a card that was made elsewhere. */
export function cardEtag({ signatures, ...content }: ServedAgentCard): string {
  return `${signatures ? 'W/' : ''}"${digestOf(JSON.stringify(content))}"`;
}

function digestOf(json: string): string {
  return createHash('sha256').update(json).digest('base64url').slice(0, 27);
}
