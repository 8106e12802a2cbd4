import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { scopeOf } from '#libs/access';
import { type CallContext, readIdempotencyKey, REVISION_CLAIM, type ServedAgent } from '#libs/executor';
import type { ServiceAddress } from '#libs/http';
import { inboundTrace } from '#libs/service';
import { activeExtensions } from '../extensions.js';
import { type AgentBase, agentPath, type BaseParams } from './agent-base.js';

/** Address where callers reach this service: PUBLIC_URL, or that of the request, without a trailing slash. */
export type PublicAddress = Pick<ServiceAddress, 'publicBaseUrl'> &
  Partial<Pick<ServiceAddress, 'publicGrpcTarget' | 'variesBy'>>;

/** Configuration of a route, in `request.routeOptions.config`. */
export interface A2aRouteConfig {
  a2a?: { base: AgentBase; binding: 'json-rpc' | 'rest' };
}

/** Reads from a request who calls which agent. @throws UnknownAgent */
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
    ...readIdempotency(request.headers['idempotency-key']),
    ...readTrace(request.headers),
    ...revisionClaim(request.headers[REVISION_CLAIM]),
  };
}

function readIdempotency(header: string | string[] | undefined): Pick<CallContext, 'idempotencyKey'> | undefined {
  return header === undefined ? undefined : { idempotencyKey: readIdempotencyKey(header) };
}

/** Reads the trace context; `undefined` for callers that do not trace. */
export function readTrace(headers: IncomingHttpHeaders): Pick<CallContext, 'trace'> | undefined {
  const trace = inboundTrace(headers);
  return trace === undefined ? undefined : { trace };
}

/** Reads the revision claim. A repeated header makes an invalid claim. */
function revisionClaim(header: string | string[] | undefined): Pick<CallContext, 'revisionClaim'> | undefined {
  return header === undefined ? undefined : { revisionClaim: String(header) };
}

/** Sets the header with the requested extensions that are active at the agent (section 4.6). */
export function setActivatedExtensions(call: CallContext, agent: ServedAgent, reply: FastifyReply): void {
  if (call.extensions.length === 0) return;
  const active = activeExtensions(call.extensions, agent);
  if (active.length > 0) reply.header('a2a-extensions', active.join(', '));
}

const NONE: readonly string[] = [];

/** Reads the extension URIs of the A2A-Extensions header: comma-separated, also in several headers (section 3.2.6). */
export function activatedExtensions(header: string | string[] | undefined): readonly string[] {
  if (header === undefined || header === '') return NONE;
  const values = Array.isArray(header) ? header.join(',') : header;
  return values.split(',').flatMap((value) => value.trim() || []);
}
