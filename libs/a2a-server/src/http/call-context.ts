import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { scopeOf } from '#libs/access';
import { type CallContext, readIdempotencyKey, REVISION_CLAIM, type ServedAgent } from '#libs/executor';
import type { ServiceAddress } from '#libs/http';
import { inboundTrace } from '#libs/service';
import { activated } from '../extensions.js';
import { type AgentBase, agentPath, type BaseParams } from './agent-base.js';

/** Where callers reach this service: PUBLIC_URL, or what the request says; no slash at the end. */
export type PublicAddress = Pick<ServiceAddress, 'publicBaseUrl'> &
  Partial<Pick<ServiceAddress, 'publicGrpcTarget' | 'variesBy'>>;

/** What a route was registered with; found again in `request.routeOptions.config`. */
export interface A2aRouteConfig {
  a2a?: { base: AgentBase; binding: 'json-rpc' | 'rest' };
}

/** Who calls which agent, read once from a request. @throws UnknownAgent */
export function callContext(
  base: AgentBase,
  request: FastifyRequest,
  { raw }: FastifyReply,
  address: PublicAddress,
): CallContext {
  return {
    scope: scopeOf(request.raw),
    agent: agentPath(base, request.params as BaseParams),
    extensions: activatedExtensions(request.headers['a2a-extensions']),
    baseUrl: address.publicBaseUrl(request.raw),
    whenAnswered: (done) => !raw.closed && raw.once('close', done) === raw,
    ...idempotency(request.headers['idempotency-key']),
    ...tracing(request.headers),
    ...revisionClaim(request.headers[REVISION_CLAIM]),
  };
}

function idempotency(header: string | string[] | undefined): Pick<CallContext, 'idempotencyKey'> | undefined {
  return header === undefined ? undefined : { idempotencyKey: readIdempotencyKey(header) };
}

/** Of callers that do not trace nothing is kept. */
export function tracing(headers: IncomingHttpHeaders): Pick<CallContext, 'trace'> | undefined {
  const trace = inboundTrace(headers);
  return trace === undefined ? undefined : { trace };
}

/** One that is written twice is none of ours. */
function revisionClaim(header: string | string[] | undefined): Pick<CallContext, 'revisionClaim'> | undefined {
  return header === undefined ? undefined : { revisionClaim: String(header) };
}

/** Says which of the extensions that the caller asked for are active at the agent (section 4.6). */
export function setActivatedExtensions(call: CallContext, agent: ServedAgent, reply: FastifyReply): void {
  if (call.extensions.length === 0) return;
  const active = activated(call.extensions, agent);
  if (active.length > 0) reply.header('a2a-extensions', active.join(', '));
}

const NONE: readonly string[] = [];

/** The extension URIs of the A2A-Extensions header: comma-separated, also over several headers (section 3.2.6). */
export function activatedExtensions(header: string | string[] | undefined): readonly string[] {
  if (header === undefined || header === '') return NONE;
  const values = Array.isArray(header) ? header.join(',') : header;
  return values.split(',').flatMap((value) => value.trim() || []);
}
