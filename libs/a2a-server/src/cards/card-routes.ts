import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { scopeOf } from '#libs/access';
import { type AgentCatalog, UnknownAgent } from '#libs/agents';
import { A2AError, invalidParams } from '#libs/protocol';
import {
  A2A_CARD_PATH,
  AGENT_BASES,
  type AgentBase,
  agentPath,
  agentUrl,
  BASE_ROUTES,
  type BaseParams,
  isCurrentVersion,
  type PublicAddress,
  requestedVersion,
} from '../http/call-context.js';
import { sendRestError } from '../http/rest-binding.js';
import { publicError } from '../public-error.js';
import { sendCard, type ServedCards } from './served-cards.js';

/** Well-known path where clients older than A2A 0.3, and some clients of 0.3, look for a card. */
const OLD_WELL_KNOWN_CARD = '/.well-known/agent.json';

/** Path where clients of the pre-1.0 dialect look for a card. */
const PRE_1_0_CARD = '/agent-card';

/** Headers that identify the caller. `Vary` lists them for cards that depend on the caller's tenant. */
export const CREDENTIALS = ['Authorization', 'X-API-Key'];

const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;

/**
 * Routes of agent cards. Cards are public documents that need no protocol version: callers that request no supported
 * version also get the members of 0.3. Cards of a tenant's agents are only for callers of that tenant.
 */
export class CardRoutes {
  constructor(
    private readonly catalog: AgentCatalog,
    private readonly address: PublicAddress,
    private readonly cards: ServedCards,
  ) {}

  /** Registers the routes of the cards below `/a2a`, and of the directory of agents. */
  registerCards(scope: FastifyInstance): void {
    for (const base of AGENT_BASES) {
      for (const place of [A2A_CARD_PATH, OLD_WELL_KNOWN_CARD]) {
        scope.get(`${BASE_ROUTES[base]}${place}`, (request, reply) => this.serveCard(base, request, reply));
      }
      const notFound = base === 'alias' ? 'node not found' : undefined;
      scope.get(`${BASE_ROUTES[base]}${PRE_1_0_CARD}`, (request, reply) =>
        this.serveCard(base, request, reply, notFound),
      );
    }
    scope.get('/agents', (request, reply) => this.serveDirectory(request, reply));
  }

  /** Registers the service's card at the well-known paths, where clients look first (section 8.2). */
  registerWellKnown(scope: FastifyInstance): void {
    for (const place of [A2A_CARD_PATH, OLD_WELL_KNOWN_CARD]) {
      scope.get(place, (request, reply) => this.serveCard('service', request, reply));
    }
  }

  /**
   * Sends the card of an agent.
   * @param notFound error text for an unknown agent; absent: the default text
   */
  private async serveCard(
    base: AgentBase,
    request: FastifyRequest,
    reply: FastifyReply,
    notFound?: string,
  ): Promise<void> {
    try {
      const path = agentPath(base, request.params as BaseParams);
      const { tenant } = scopeOf(request.raw);
      const agent = await this.catalog.inTenant(tenant).resolveAgent(path);
      const baseUrl = this.address.publicBaseUrl(request.raw);
      const legacy = !isCurrentVersion(requestedVersion(request));
      const card = await this.cards.publicCard(agent, { baseUrl, path, legacy });
      const { personal, maxAgeMs } = this.cards;
      const varyBy = [...(personal ? CREDENTIALS : []), ...(this.address.variesBy ?? [])];
      sendCard(request, reply, card, { shared: tenant === '', maxAgeMs, varyBy });
    } catch (error) {
      sendRestError(request, reply, cardError(error, notFound));
    }
  }

  /**
   * Answers with the directory of agents, `{agents: [{path, name, description, url, cardUrl}], nextPageToken}`, in a
   * stable order.
   */
  private async serveDirectory(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      const { pageSize, pageToken } = request.query as Record<string, unknown>;
      if (pageToken !== undefined && typeof pageToken !== 'string') {
        throw invalidParams({ field: 'pageToken', description: 'must be a string' });
      }
      const baseUrl = this.address.publicBaseUrl(request.raw);
      const catalog = this.catalog.inTenant(scopeOf(request.raw).tenant);
      const page = await catalog.listAgents(pageLimit(pageSize), pageToken === '' ? undefined : pageToken);
      const agents = page.agents.map(({ path, name, description }) => {
        const url = agentUrl(baseUrl, path);
        return { path, name, description, url, cardUrl: `${url}${A2A_CARD_PATH}` };
      });
      reply
        .header('content-type', 'application/json')
        .send(JSON.stringify({ agents, nextPageToken: page.nextPageToken }));
    } catch (error) {
      sendRestError(request, reply, publicError(error));
    }
  }
}

function cardError(error: unknown, notFound: string | undefined): A2AError {
  const shown = publicError(error);
  if (notFound === undefined || !(error instanceof UnknownAgent) || error.reason !== 'NODE_NOT_FOUND') return shown;
  const { reason, metadata } = error;
  return new A2AError('TASK_NOT_FOUND', { message: notFound, detailReason: reason, metadata, cause: error });
}

function pageLimit(value: unknown): number {
  if (value === undefined || value === '') return DEFAULT_PAGE;
  const size = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (size >= 1 && size <= MAX_PAGE) return size;
  throw invalidParams({ field: 'pageSize', description: `must be between 1 and ${MAX_PAGE}` });
}
