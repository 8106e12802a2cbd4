import { Injectable } from '@nestjs/common';
import { AgentCallError, AgentDirectory, isOfService } from '#libs/a2a-client';
import { OutboundHttp } from '#libs/http-client';
import { assertCallable, malformedRequest, ProblemError, ServiceAddress } from '#libs/http-server';
import type { AgentCard } from '#libs/protocol';
import { requireCarried } from '../relay/relay-card.js';

/** Maximum milliseconds for reading the card of an agent that is being saved. */
const CARD_MS = 15_000;

/** Checks registered agents before they are saved. */
@Injectable()
export class RegistrationCheck {
  constructor(
    private readonly directory: AgentDirectory,
    private readonly http: OutboundHttp,
    private readonly address: ServiceAddress,
  ) {}

  /**
   * Rejects the URL of this service itself, and a URL that may not be called, as far as that is known without a DNS
   * lookup.
   * @throws ProblemError 400
   */
  requirePermitted({ url }: { url: string }): void {
    const { href } = new URL(url);
    if (this.address.ownPath(href) !== undefined || isOfService(href, this.address.ownUrls))
      throw malformedRequest({ path: 'url', detail: 'must not be an agent of this service' });
    assertCallable(this.http, url, 'url');
  }

  /**
   * Reads the card of an agent, which pins it.
   * @param signal aborts the read; absent: only the time limit ends the read
   * @throws ProblemError 422 with the reason why the card cannot be read, or requires an extension that calls cannot
   * carry
   */
  async readCard(
    { url }: { url: string },
    { tenant, owner }: { tenant: string; owner: string },
    signal?: AbortSignal,
  ): Promise<AgentCard> {
    try {
      const limit = AbortSignal.timeout(CARD_MS);
      const options = {
        scope: { tenant, owner },
        timeouts: { total: CARD_MS, refused: 0 },
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      };
      const card = await this.directory.resolveCard(url, options);
      if (!card) throw new AgentCallError('invalid-response', 'there is no agent card');
      requireCarried(card);
      return card;
    } catch (error) {
      if (!(error instanceof AgentCallError)) throw error;
      const detail = `the agent cannot be registered: ${error.publicMessage}`;
      throw new ProblemError(422, `url: ${detail}`, [{ path: 'url', detail }]);
    }
  }
}
