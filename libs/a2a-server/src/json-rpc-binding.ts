import type { FastifyReply, FastifyRequest } from 'fastify';
import { setRetryAfter } from '#libs/access';
import { A2AError, textStart } from '#libs/protocol';
import {
  type AgentBase,
  atTenant,
  callContext,
  isLegacyVersion,
  type PublicAddress,
  requestedVersion,
  requireSupportedVersion,
  setActivatedExtensions,
} from './http/call-context.js';
import { type EventStreams, resumeCursor } from './http/event-stream.js';
import {
  errorResponse,
  readId,
  readRequest,
  resultResponse,
  RpcFraming,
  type RpcId,
  type RpcRequest,
} from './http/json-rpc-envelope.js';
import { type A2aOperation, OPERATIONS } from './operations.js';
import { isPre10Call, Pre10Dialect, pre10Text } from './pre-1-0/pre-1-0-dialect.js';
import { publicError } from './public-error.js';
import type { RequestHandler } from './request-handler.js';
import { isLegacyMethod, LegacyJsonRpc } from './v0-3/legacy-json-rpc.js';

/** HTTP statuses that JSON-RPC errors keep, because clients and load balancers act on these statuses. */
const HTTP_STATUSES: ReadonlySet<number> = new Set([401, 403, 413, 415, 421, 429, 503]);

/**
 * JSON-RPC binding (section 9). Errors are JSON-RPC errors. Their HTTP status is 200, unless HTTP_STATUSES contains the
 * status of the error. Checks come in this order: JSON, envelope, version, method, agent, parameters.
 */
export class JsonRpcBinding {
  private readonly pre10: Pre10Dialect;
  private readonly legacy: LegacyJsonRpc;

  constructor(
    private readonly handler: RequestHandler,
    private readonly address: PublicAddress,
    private readonly streams: EventStreams,
  ) {
    this.pre10 = new Pre10Dialect(handler);
    this.legacy = new LegacyJsonRpc(handler, address, streams);
  }

  async handleRequest(base: AgentBase, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const id = readId(request.body);
    const version = requestedVersion(request);
    try {
      const rpc = readRequest(request.body);
      if (isPre10Call(base, rpc.method, version)) {
        const context = callContext(base, request, reply, this.address);
        sendJson(reply, resultResponse(id, await this.pre10.sendMessage(base, rpc.params, context)));
      } else if (isLegacyVersion(version) && isLegacyMethod(rpc.method)) {
        await this.legacy.handleMethod(base, id, rpc, request, reply);
      } else {
        await this.answerMethod(base, id, rpc, operationOf(rpc.method, version), request, reply);
      }
    } catch (error) {
      this.refuseRequest(base, id, version, error, reply);
    }
  }

  /** Answers with a JSON-RPC error, also to a request whose body could not be read. */
  refuseRequest(base: AgentBase, id: RpcId, version: string, error: unknown, reply: FastifyReply): void {
    const shown = publicError(error);
    const text = base === 'alias' && version === '' ? pre10Text(shown) : shown.message;
    if (HTTP_STATUSES.has(shown.status)) reply.code(shown.status);
    setRetryAfter(shown, reply);
    const body = errorResponse(id, shown, text);
    if (reply.statusCode === 200 && readsOnlyEvents(reply.request))
      reply.header('content-type', 'text/event-stream').send(`data: ${body}\n\n`);
    else sendJson(reply, body);
  }

  private async answerMethod(
    base: AgentBase,
    id: RpcId,
    rpc: RpcRequest,
    operation: A2aOperation,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const call = atTenant(callContext(base, request, reply, this.address), rpc.params);
    await operation.at(this.handler, call, async (agent) => {
      setActivatedExtensions(call, agent, reply);
      if (operation.kind === 'unary') {
        sendJson(reply, resultResponse(id, await operation.answerJson(this.handler, agent, rpc.params, call)));
        return;
      }
      const cursor = operation.resumable ? resumeCursor(request) : {};
      const readStream = () => operation.openStream(this.handler, agent, rpc.params, call, cursor);
      await this.streams.sendStream(reply, readStream, new RpcFraming(id));
    });
  }
}

/**
 * Returns the operation of a JSON-RPC method. Operations of 1.0 need protocol version 1.0. A method that exists neither
 * in 1.0 nor in 0.3 is unknown.
 * @throws A2AError VERSION_NOT_SUPPORTED or METHOD_NOT_FOUND
 */
function operationOf(method: string, version: string): A2aOperation {
  const known = Object.hasOwn(OPERATIONS, method);
  if (known || !isLegacyVersion(version)) requireSupportedVersion(version);
  if (!known) throw new A2AError('METHOD_NOT_FOUND', { metadata: { method: textStart(method, 64) } });
  return OPERATIONS[method as keyof typeof OPERATIONS];
}

/** True for the client of the SDK for Go in a call of a stream: it ignores an answer that is no event stream. */
function readsOnlyEvents({ headers }: FastifyRequest): boolean {
  const isGo = headers['user-agent']?.startsWith('Go-http-client/') === true;
  return isGo && headers.accept?.trim().toLowerCase() === 'text/event-stream';
}

function sendJson(reply: FastifyReply, json: string): void {
  reply.header('content-type', 'application/json').send(json);
}
