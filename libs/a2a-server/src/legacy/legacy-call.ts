import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallContext, ServedAgent } from '#libs/executor';
import { activated } from '../extensions.js';
import type { AgentBase } from '../http/agent-base.js';
import { activatedExtensions, callContext, type PublicAddress } from '../http/call-context.js';

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
export function tellLegacyExtensions(call: CallContext, agent: ServedAgent, reply: FastifyReply): void {
  const active = activated(call.extensions, agent);
  if (active.length > 0) reply.header(EXTENSIONS_HEADER, active.join(', '));
}
