import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallContext, ServedAgent } from '#libs/executor';
import { A2AError, endsV03Stream, type JsonObject, type StreamResponse } from '#libs/protocol';
import { activeExtensions } from '../extensions.js';
import type { AgentBase } from '../http/agent-base.js';
import { activatedExtensions, callContext, type PublicAddress } from '../http/call-context.js';
import type { StreamFraming } from '../http/event-stream.js';
import { publicError } from '../public-error.js';

/** Extensions header of A2A 0.3. */
const EXTENSIONS_HEADER = 'x-a2a-extensions';

/** Reads the context of a call as callContext does; extensions may be in the header of 0.3. @throws UnknownAgent */
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

/** Sets the header with the requested extensions that are active at the agent. */
export function setLegacyExtensions(call: CallContext, agent: ServedAgent, reply: FastifyReply): void {
  const active = activeExtensions(call.extensions, agent);
  if (active.length > 0) reply.header(EXTENSIONS_HEADER, active.join(', '));
}

/**
 * Converts an error to the one that callers of 0.3 see. A missing extended card has its own error in 0.3, whatever the
 * reason.
 */
export function legacyError(error: unknown, extendedCard: boolean): A2AError {
  const shown = publicError(error);
  if (!extendedCard || shown.reason !== 'UNSUPPORTED_OPERATION') return shown;
  return new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED', { cause: error });
}

/**
 * Framing of a stream in a format of 0.3. Streams of 0.3 end with the status that ends the turn, even resubscriptions,
 * which 1.0 continues until the Task ends.
 */
export function legacyFraming(framing: StreamFraming, write: (response: StreamResponse) => JsonObject): StreamFraming {
  return {
    frameItem: ({ response }) => framing.frameItem({ response, json: JSON.stringify(write(response)) }),
    frameError: (error) => framing.frameError(error),
    isLast: ({ response }) => endsV03Stream(response),
  };
}
