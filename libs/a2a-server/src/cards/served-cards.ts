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
  /** Authentication that cards declare; absent if none is required. */
  security?: CardSecurity;
  /** Signer of cards; absent: cards are not signed. */
  signer?: CardSigner;
  /** Milliseconds for which readers may keep a card without revalidation; absent: 0. */
  maxAgeMs?: number;
}

/** Serialized card. */
export interface WrittenCard {
  json: string;
  /**
   * Tag of the content without signatures: those of two replicas differ but are equivalent (RFC 9110, section 8.8.1).
   */
  etag: string;
  /** Time of the last change; absent if unknown. */
  changedAt?: Date;
}

/** Reader of a card, and how the agent was addressed. */
export interface CardReader {
  baseUrl: string;
  /** Path that the reader used; for the alias of a node, the alias. */
  path: string;
  /** True if the members of 0.3 are added. */
  legacy: boolean;
}

/** Cards of the agents of this process. */
export class ServedCards {
  private readonly since = new Date();

  constructor(private readonly options: ServedCardsOptions) {}

  /** True if callers are authenticated, so that cards may depend on them. */
  get personal(): boolean {
    return this.options.security !== undefined;
  }

  get maxAgeMs(): number {
    return this.options.maxAgeMs ?? 0;
  }

  /** Returns the public card of an agent. */
  publicCard(agent: ServedAgent, { baseUrl, path, legacy }: CardReader): Promise<WrittenCard> {
    const card = agentCard(agent, baseUrl, path, this.cardOptions(baseUrl));
    // An alias may lead to another agent later, whose last change is earlier.
    const changedAt = path === agent.path ? this.changeOf(agent) : undefined;
    return this.writeSignedCard(legacy ? withLegacyMembers(card) : card, baseUrl, changedAt);
  }

  /**
   * Returns the extended card of an agent (sections 3.1.11 and 13.3), in the version of the caller.
   * @throws A2AError UNSUPPORTED_OPERATION if no authentication is required
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
    return this.withSignature(call.protocolVersion === '0.3' ? withLegacyMembers(card) : card, baseUrl);
  }

  /** Serializes an extended card. */
  writtenCard(agent: ServedAgent, { signatures, ...content }: AgentCard): WrittenCard {
    const etag = `${signatures ? 'W/' : ''}"${digestOf(JSON.stringify(content))}"`;
    const json = JSON.stringify({ ...content, ...(signatures && { signatures }) });
    return { json, etag, changedAt: this.changeOf(agent) };
  }

  private cardOptions(baseUrl: string): CardOptions {
    const { pushNotifications, security, address } = this.options;
    return { pushNotifications, security, grpcUrl: address.publicGrpcTarget?.(baseUrl) };
  }

  /**
   * Returns the time of an agent's last change, at least the start of the process: parts of a card depend on its
   * configuration.
   */
  private changeOf({ changedAt }: ServedAgent): Date {
    return changedAt !== undefined && changedAt > this.since ? changedAt : this.since;
  }

  private async writeSignedCard(card: AgentCard, baseUrl: string, changedAt: Date | undefined): Promise<WrittenCard> {
    const json = JSON.stringify(card);
    const digest = digestOf(json);
    const signature = await this.options.signer?.signCard(card, baseUrl, digest);
    if (!signature) return { json, etag: `"${digest}"`, changedAt };
    const signed = `${json.slice(0, -1)},"signatures":[${JSON.stringify(signature)}]}`;
    return { json: signed, etag: `W/"${digest}"`, changedAt };
  }

  private async withSignature(card: AgentCard, baseUrl: string): Promise<AgentCard> {
    const signature = await this.options.signer?.signCard(card, baseUrl, digestOf(JSON.stringify(card)));
    return signature ? { ...card, signatures: [signature] } : card;
  }
}

function digestOf(json: string): string {
  return createHash('sha256').update(json).digest('base64url').slice(0, 27);
}
