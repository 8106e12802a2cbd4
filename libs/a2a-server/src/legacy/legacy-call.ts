import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallContext, ServedAgent } from '#libs/executor';
import { A2AError, endsV03Stream, type JsonObject, type StreamResponse } from '#libs/protocol';
import { activated } from '../extensions.js';
import type { AgentBase } from '../http/agent-base.js';
import { activatedExtensions, callContext, type PublicAddress } from '../http/call-context.js';
import type { StreamFraming } from '../http/event-stream.js';
import { publicError } from '../public-error.js';

/** A2A 0.3 called the header so. */
const EXTENSIONS_HEADER = 'x-a2a-extensions';

/** Who calls which agent, as callContext reads it; the extensions may stand in 0.3's own header. @throws UnknownAgent */
export function legacyCall(
  base: AgentBase,
  request: FastifyRequest,
  reply: FastifyReply,
  address: PublicAddress,
): CallContext {
  const call = callContext(base, request, reply, address);
  const header = request.headers[EXTENSIONS_HEADER];
  return { ...call, protocolVersion: '0.3', ...(header !== undefined && { extensions: activatedExtensions(header) }) };
}

/** Says which of the extensions that the caller asked for are active at the agent. */
export function setLegacyExtensions(call: CallContext, agent: ServedAgent, reply: FastifyReply): void {
  const active = activated(call.extensions, agent);
  if (active.length > 0) reply.header(EXTENSIONS_HEADER, active.join(', '));
}

/**
 * What a caller of 0.3 sees of an error. An extended card that is not there has its own error in 0.3, whatever the
 * reason.
 */
export function legacyError(error: unknown, extendedCard: boolean): A2AError {
  const shown = publicError(error);
  if (!extendedCard || shown.reason !== 'UNSUPPORTED_OPERATION') return shown;
  return new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED', { cause: error });
}

/**
 * A stream in a form of 0.3. Its streams end with the status that ends the turn, also a resubscription, which 1.0 goes on
 * with until the Task ends.
 */
export function legacyFraming(framing: StreamFraming, write: (response: StreamResponse) => JsonObject): StreamFraming {
  return {
    item: ({ response }) => framing.item({ response, json: JSON.stringify(write(response)) }),
    error: (error) => framing.error(error),
    isLast: ({ response }) => endsV03Stream(response),
  };
}
