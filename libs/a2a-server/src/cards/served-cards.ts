import { createHash } from 'node:crypto';
import { A2AError, type AgentCard } from '#libs/protocol';
import type { CallContext, ServedAgent } from '#libs/executor';
import type { PublicAddress } from '../http/call-context.js';
import { agentCard, type CardOptions, extendedCard, withLegacyMembers } from './agent-card.js';
import type { CardSecurity } from './card-security.js';
import type { CardSigner } from './card-signer.js';

export interface ServedCardsOptions {
  address: PublicAddress;
  pushNotifications?: boolean;
  /** What cards say of credentials; absent where nobody is asked for them. */
  security?: CardSecurity;
  /** Absent: cards are not signed. */
  signer?: CardSigner;
  /** How long, in milliseconds, readers may keep a card without asking again; absent: not at all. */
  maxAgeMs?: number;
}

/** A card as it goes out. */
export interface WrittenCard {
  json: string;
  /** Of its content without the signatures: those of two replicas differ, and are equally good (RFC 9110, section 8.8.1). */
  etag: string;
  /** When it changed last; absent where nobody knows. */
  changedAt?: Date;
}

/** Where a card is read, and by whom. */
export interface CardReader {
  baseUrl: string;
  /** The path that the reader used; for the alias of a node that is the alias. */
  path: string;
  /** Whether the members of 0.3 stand beside those of 1.0. */
  legacy: boolean;
}

/** The cards of the agents of this process. */
export class ServedCards {
  private readonly since = new Date();

  constructor(private readonly options: ServedCardsOptions) {}

  /** Whether callers are known, so that what a card says may depend on them. */
  get personal(): boolean {
    return this.options.security !== undefined;
  }

  get maxAgeMs(): number {
    return this.options.maxAgeMs ?? 0;
  }

  /** The card that everyone sees. */
  publicCard(agent: ServedAgent, { baseUrl, path, legacy }: CardReader): Promise<WrittenCard> {
    const card = agentCard(agent, baseUrl, path, this.cardOptions(baseUrl));
    // Behind an alias there may be another agent tomorrow, which was saved before this one.
    const changedAt = path === agent.path ? this.changeOf(agent) : undefined;
    return this.written(legacy ? withLegacyMembers(card) : card, baseUrl, changedAt);
  }

  /**
   * What a caller that is known sees of an agent (sections 3.1.11 and 13.3), in the words of its version.
   * @throws A2AError UNSUPPORTED_OPERATION where nobody is asked who they are
   */
  async extendedCard(
    agent: ServedAgent,
    call: Pick<CallContext, 'agent' | 'baseUrl' | 'protocolVersion'>,
  ): Promise<AgentCard> {
    if (!this.personal) {
      throw new A2AError('UNSUPPORTED_OPERATION', { message: 'This agent has no extended agent card' });
    }
    const { baseUrl } = call;
    const card = await extendedCard(agent, baseUrl, call.agent, this.cardOptions(baseUrl));
    return this.signed(call.protocolVersion === '0.3' ? withLegacyMembers(card) : card, baseUrl);
  }

  /** An extended card as it goes out. */
  writtenCard(agent: ServedAgent, { signatures, ...content }: AgentCard): WrittenCard {
    const etag = `${signatures ? 'W/' : ''}"${digestOf(JSON.stringify(content))}"`;
    const json = JSON.stringify({ ...content, ...(signatures && { signatures }) });
    return { json, etag, changedAt: this.changeOf(agent) };
  }

  private cardOptions(baseUrl: string): CardOptions {
    const { pushNotifications, security, address } = this.options;
    return { pushNotifications, security, grpcUrl: address.publicGrpcTarget?.(baseUrl) };
  }

  /** What a card says beyond what is saved follows from how the process was started. */
  private changeOf({ changedAt }: ServedAgent): Date {
    return changedAt !== undefined && changedAt > this.since ? changedAt : this.since;
  }

  private async written(card: AgentCard, baseUrl: string, changedAt: Date | undefined): Promise<WrittenCard> {
    const json = JSON.stringify(card);
    const digest = digestOf(json);
    const signature = await this.options.signer?.signature(card, baseUrl, digest);
    if (!signature) return { json, etag: `"${digest}"`, changedAt };
    const signed = `${json.slice(0, -1)},"signatures":[${JSON.stringify(signature)}]}`;
    return { json: signed, etag: `W/"${digest}"`, changedAt };
  }

  private async signed(card: AgentCard, baseUrl: string): Promise<AgentCard> {
    const signature = await this.options.signer?.signature(card, baseUrl, digestOf(JSON.stringify(card)));
    return signature ? { ...card, signatures: [signature] } : card;
  }
}

function digestOf(json: string): string {
  return createHash('sha256').update(json).digest('base64url').slice(0, 27);
}
