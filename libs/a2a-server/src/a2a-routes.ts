import { isUtf8 } from 'node:buffer';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AgentCatalog } from '#libs/executor';
import { A2AError } from '#libs/protocol';
import { COSTLY_BODY, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { type BodyTurn, hasMoreMembers } from '#libs/http';
import { CardRoutes } from './cards/card-routes.js';
import { AGENT_BASES, BASE_ROUTES } from './http/agent-base.js';
import type { A2aRouteConfig, PublicAddress } from './http/call-context.js';
import { EventStreams } from './http/event-stream.js';
import { requestedVersion } from './http/protocol-version.js';
import { RequestBatcher } from './http/turns.js';
import { LegacySendMessage } from './legacy/legacy-send-message.js';
import { isLegacyRest, LegacyRest, sendLegacyRestError } from './legacy/legacy-rest.js';
import { readId } from './json-rpc/envelope.js';
import { JsonRpcBinding } from './json-rpc/json-rpc-binding.js';
import type { RequestHandler } from './request-handler.js';
import { RestBinding } from './rest/rest-binding.js';
import { sendRestError } from './rest/rest-response.js';
import { refuseRoute, registerRestRoutes } from './rest/rest-routes.js';
import { tooManyMembersError } from './validation/json-bounds.js';
import { publicError } from './public-error.js';

export interface A2aRoutesOptions {
  handler: RequestHandler;
  catalog: AgentCatalog;
  address: PublicAddress;
  /** Maximum number of members of one body; default that of `JSON_MEMBERS_LIMIT`. */
  jsonMembers?: number;
  /** Schedules the reading of each large body; absent: it is read like the others. */
  bodyTurn?: BodyTurn;
}

/** Operation of the routes that a shutdown needs. */
export interface A2aRoutes {
  /** Ends every open stream after its current item; readers resume with the last id they saw. */
  endStreams(): void;
}

/**
 * Registers the A2A surface: JSON-RPC, REST and cards below `/a2a`, and the service's card at the well-known place. It
 * is encapsulated: its body parsing, errors and unknown routes follow the protocol and affect no other route. Call it
 * before the server is ready. The server's own `bodyLimit` applies to bodies.
 */
export function registerA2aRoutes(fastify: FastifyInstance, options: A2aRoutesOptions): A2aRoutes {
  const { handler, catalog, address } = options;
  const streams = new EventStreams();
  const rpc = new JsonRpcBinding(handler, address, streams);
  const rest = new RestBinding(handler, address, streams);
  const legacy = {
    rest: new LegacyRest(handler, address, streams),
    sendMessage: new LegacySendMessage(handler, address),
  };
  const cards = new CardRoutes(catalog, address, handler.cards);
  void fastify.register(
    (scope, _options, done) => {
      acceptJsonOnly(scope, options);
      scope.setErrorHandler((error, request, reply) => answerError(rpc, error, request, reply));
      scope.setNotFoundHandler(refuseRoute);
      registerRpcRoutes(scope, rpc);
      registerRestRoutes(scope, rest, legacy);
      cards.registerCards(scope);
      done();
    },
    { prefix: '/a2a' },
  );
  void fastify.register((scope, _options, done) => {
    cards.registerWellKnown(scope);
    done();
  });
  return { endStreams: () => streams.endAll() };
}

/** Answers a request below `/a2a` whose address cannot be parsed. */
export function answerUnreadableAddress(request: FastifyRequest, reply: FastifyReply): void {
  sendRestError(request, reply, new A2AError('INVALID_REQUEST', { message: 'The address is not valid' }));
}

function registerRpcRoutes(scope: FastifyInstance, binding: JsonRpcBinding): void {
  for (const base of AGENT_BASES) {
    const config: A2aRouteConfig = { a2a: { base, binding: 'json-rpc' } };
    const handleRpc = (request: FastifyRequest, reply: FastifyReply): Promise<void> =>
      binding.handleRequest(base, request, reply);
    scope.post(BASE_ROUTES[base] || '/', { config }, handleRpc);
  }
}

function answerError(rpc: JsonRpcBinding, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { a2a } = request.routeOptions.config as A2aRouteConfig;
  const shown = transportError(error);
  if (a2a?.binding !== 'json-rpc') {
    return isLegacyRest(request) ? sendLegacyRestError(reply, shown) : sendRestError(request, reply, shown);
  }
  reply.code(200);
  return rpc.refuseRequest(a2a.base, readId(request.body), requestedVersion(request), shown, reply);
}

/** Accepted content types: on every binding the protocol's own or plain JSON. */
const JSON_TYPES = ['application/json', 'application/a2a+json'];

/**
 * Makes a scope accept only JSON.
 *
 * - Invalid JSON is PARSE_ERROR; an empty body is `undefined`.
 * - Fastify rejects other content types with 415.
 * - A body with too many members is INVALID_REQUEST, checked before parsing.
 * - A body that is not UTF-8 is PARSE_ERROR: lenient decoding would change the caller's text.
 */
function acceptJsonOnly(scope: FastifyInstance, { jsonMembers, bodyTurn }: A2aRoutesOptions): void {
  const mostMembers = jsonMembers ?? DEFAULT_CONTENT_LIMITS.jsonMembers;
  scope.removeAllContentTypeParsers();
  const turns = new RequestBatcher();
  scope.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (request, body, done) => {
    const readAndPass = (): void => {
      const value = readJson(body as Buffer, mostMembers);
      if (value instanceof A2AError) done(value);
      else done(null, value);
    };
    if (bodyTurn === undefined || body.length < COSTLY_BODY) return turns.schedule(readAndPass);
    bodyTurn(request, body.length, readAndPass, done);
  });
}

function readJson(body: Buffer, mostMembers: number): unknown {
  if (!isUtf8(body)) return new A2AError('PARSE_ERROR', { message: 'The request body is not UTF-8' });
  const text = body.toString();
  if (hasMoreMembers(text, mostMembers)) return tooManyMembersError(mostMembers);
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch (error) {
    return new A2AError('PARSE_ERROR', { cause: error });
  }
}

/**
 * Converts an error from before or outside a handler to the one that callers see. An oversized body and a content type
 * that is not JSON keep HTTP statuses 413 and 415, with Parley's reasons. ContentTypeNotSupportedError of section 5.4
 * is a 400 and concerns the content of a Message.
 */
function transportError(error: unknown): A2AError {
  const { code, statusCode } = error as Partial<FastifyError>;
  if (error instanceof A2AError || typeof statusCode !== 'number' || statusCode < 400 || statusCode >= 500) {
    return publicError(error);
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new A2AError('INVALID_REQUEST', {
      message: 'The request body is too large',
      detailReason: 'BODY_TOO_LARGE',
      status: 413,
    });
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new A2AError('INVALID_REQUEST', {
      message: 'The request body must be application/json or application/a2a+json',
      detailReason: 'MEDIA_TYPE_NOT_SUPPORTED',
      status: 415,
    });
  }
  return new A2AError('INVALID_REQUEST', { status: statusCode, cause: error });
}
