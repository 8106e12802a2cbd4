import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendCard } from '../cards/card-response.js';
import type { AgentBase } from '../http/agent-base.js';
import { callContext, type PublicAddress, setActivatedExtensions } from '../http/call-context.js';
import type { EventStreams } from '../http/event-stream.js';
import { requestedVersion, requireSupportedVersion } from '../http/protocol-version.js';
import { resumeCursor } from '../http/resume-cursor.js';
import { type A2aOperation, OPERATIONS } from '../operations.js';
import { publicError } from '../public-error.js';
import type { RequestHandler } from '../request-handler.js';
import { atTenant } from '../tenant-agent.js';
import type { ReadParameters } from './rest-parameters.js';
import { REST_FRAMING, sendRest, sendRestError } from './rest-response.js';

/** REST call: an operation, a reader of its parameters, and whether a version is required. */
export interface RestCall {
  operation: A2aOperation;
  read: ReadParameters;
  /** True for `/send-message`, which is older than the version header and requires none. */
  anyVersion?: boolean;
}

/** HTTP+JSON binding (section 11). Checks come in this order: JSON, version, agent, parameters. */
export class RestBinding {
  constructor(
    private readonly handler: RequestHandler,
    private readonly address: PublicAddress,
    private readonly streams: EventStreams,
  ) {}

  async handleCall(base: AgentBase, rest: RestCall, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      if (!rest.anyVersion) requireSupportedVersion(requestedVersion(request));
      await this.answerCall(base, rest, request, reply);
    } catch (error) {
      sendRestError(request, reply, publicError(error));
    }
  }

  private async answerCall(
    base: AgentBase,
    rest: RestCall,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { operation } = rest;
    const came = callContext(base, request, reply, this.address);
    // The service always exists, and its parameters may name another agent.
    const given = base === 'service' ? rest.read(request, came) : undefined;
    const call = atTenant(came, given);
    await operation.at(this.handler, call, async (found) => {
      setActivatedExtensions(call, found, reply);
      const params = given ?? rest.read(request, call);
      if (operation === OPERATIONS.GetExtendedAgentCard) {
        const agent = await this.handler.agentOfTenant(found, params as { tenant?: string }, call);
        const card = await this.handler.extendedAgentCard(
          agent,
          agent === found ? call : { ...call, agent: agent.path },
        );
        const { cards } = this.handler;
        const caching = { shared: false, maxAgeMs: cards.maxAgeMs, varyBy: [] };
        return sendCard(request, reply, cards.writtenCard(agent, card), caching);
      }
      if (operation.kind === 'unary') {
        sendRest(request, reply, await operation.answerJson(this.handler, found, params, call));
        return;
      }
      const cursor = operation.resumable ? resumeCursor(request) : {};
      const readStream = () => operation.openStream(this.handler, found, params, call, cursor);
      await this.streams.sendStream(reply, readStream, REST_FRAMING);
    });
  }
}
