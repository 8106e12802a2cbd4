import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isUtf8 } from 'node:buffer';
import type { AgentCatalog } from '#libs/agents';
import { type BodyTurn, hasMoreMembers } from '#libs/http-server';
import { A2AError } from '#libs/protocol';
import { COSTLY_BODY, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { CardRoutes } from './cards/card-routes.js';
import {
  type A2aRouteConfig,
  AGENT_BASES,
  type AgentBase,
  BASE_ROUTES,
  type PublicAddress,
  requestedVersion,
} from './http/call-context.js';
import { EventStreams } from './http/event-stream.js';
import { readId } from './http/json-rpc-envelope.js';
import {
  bodyParameters,
  getTaskParameters,
  listTasksParameters,
  pushConfigParameters,
  RestBinding,
  type RestCall,
  sendMessageParameters,
  sendRestError,
  taskActionParameters,
  tenantParameters,
} from './http/rest-binding.js';
import { JsonRpcBinding } from './json-rpc-binding.js';
import { OPERATIONS } from './operations.js';
import { publicError } from './public-error.js';
import type { RequestHandler } from './request-handler.js';
import {
  hasLegacyMessage,
  isLegacyRest,
  isUnknownLegacyRest,
  LegacyRest,
  LegacySendMessage,
  sendLegacyRestError,
} from './v0-3/legacy-rest.js';
import { tooManyMembersError } from './validation/request-parsers.js';

/**
 * Runs requests that arrive together as one batch: each step for all requests, before the next step. The machine code
 * that handles a Message, together with the code of V8 and Node.js, takes 550 KiB, which is more than the cache of a
 * CPU core. If each request ran to its commit before the next one began, each Message would load all of the code again
 * (ADR 40).
 */
export class RequestBatcher {
  private waiting: (() => void)[] = [];

  /** @param afterReading calls a function once the event loop has read all pending input */
  constructor(private readonly afterReading: (act: () => void) => unknown = setImmediate) {}

  /**
   * Schedules a function to run once all pending input of this process has been read, in order of the calls. All
   * functions of a batch run in the async context of the first call.
   */
  schedule(act: () => void): void {
    if (this.waiting.length === 0) this.afterReading(() => this.runBatch());
    this.waiting.push(act);
  }

  /** Runs the functions of the batch in order. If a function throws, the functions after it are scheduled again. */
  private runBatch(): void {
    const { waiting } = this;
    this.waiting = [];
    let done = 0;
    try {
      for (const act of waiting) {
        done += 1;
        act();
      }
    } finally {
      for (const act of waiting.slice(done)) this.schedule(act);
    }
  }
}

type RouteMethod = 'GET' | 'POST' | 'DELETE';

const SEND: RestCall = { operation: OPERATIONS.SendMessage, read: bodyParameters };
const STREAM: RestCall = { operation: OPERATIONS.SendStreamingMessage, read: bodyParameters };

/**
 * Route of `message:send` and `message:stream` with a percent-encoded colon (RFC 3986, section 2.2), as some clients
 * send it. The static routes in ROUTES match only a plain colon: the router decodes nothing but parameters of a path.
 */
const ENCODED_SEND = '/:spelled(^message:(?:send|stream)$)';

/** Routes of A2A operations, below an agent's base URL with or without a tenant; `::` is a colon. */
const ROUTES: readonly (readonly [RouteMethod, string, RestCall])[] = [
  ['POST', '/message::send', SEND],
  ['POST', '/message::stream', STREAM],
  ['GET', '/tasks', { operation: OPERATIONS.ListTasks, read: listTasksParameters }],
  [
    'POST',
    '/tasks/:id/pushNotificationConfigs',
    { operation: OPERATIONS.CreateTaskPushNotificationConfig, read: pushConfigParameters },
  ],
  [
    'GET',
    '/tasks/:id/pushNotificationConfigs',
    { operation: OPERATIONS.ListTaskPushNotificationConfigs, read: pushConfigParameters },
  ],
  [
    'GET',
    '/tasks/:id/pushNotificationConfigs/:configId',
    { operation: OPERATIONS.GetTaskPushNotificationConfig, read: pushConfigParameters },
  ],
  [
    'DELETE',
    '/tasks/:id/pushNotificationConfigs/:configId',
    { operation: OPERATIONS.DeleteTaskPushNotificationConfig, read: pushConfigParameters },
  ],
  ['GET', '/extendedAgentCard', { operation: OPERATIONS.GetExtendedAgentCard, read: tenantParameters }],
];

/** REST call for the extended card of A2A 0.3, below `/v1`. */
const LEGACY_CARD: RestCall = { operation: OPERATIONS.GetExtendedAgentCard, read: tenantParameters };

const SEND_MESSAGE: RestCall = { operation: OPERATIONS.SendMessage, read: sendMessageParameters, anyVersion: true };

/** Part of RestBinding that answers one REST call. */
type RestAnswer = Pick<RestBinding, 'handleCall'>;

/**
 * Handlers for callers of A2A 0.3: `rest` for paths that begin with `v1`, `sendMessage` for Messages in the format of
 * 0.3 at `/send-message`.
 */
interface LegacyAnswers {
  rest: LegacyRest;
  sendMessage: LegacySendMessage;
}

/** Registers the routes of the REST binding below the base URL of every kind of agent. */
function registerRestRoutes(
  scope: FastifyInstance,
  binding: RestBinding,
  { rest: legacy, sendMessage }: LegacyAnswers,
): void {
  const ofVersion = (request: FastifyRequest): RestAnswer => (isLegacyRest(request) ? legacy : binding);
  for (const base of AGENT_BASES) {
    const add = routeAdder(scope, base);
    const below = BASE_ROUTES[base];
    add('POST', `${below}/send-message`, (request, reply) =>
      hasLegacyMessage(request.body)
        ? sendMessage.handleMessage(base, request, reply)
        : binding.handleCall(base, SEND_MESSAGE, request, reply),
    );
    add('GET', `${below}/:tenant/card`, (request, reply) =>
      isLegacyRest(request) ? legacy.handleCall(base, LEGACY_CARD, request, reply) : refuseRoute(request, reply),
    );
    registerOperations(add, base, below, () => binding);
    registerOperations(add, base, `${below}/:tenant`, ofVersion);
  }
}

function registerOperations(
  add: ReturnType<typeof routeAdder>,
  base: AgentBase,
  prefix: string,
  answer: (request: FastifyRequest) => RestAnswer,
): void {
  for (const [method, path, call] of ROUTES) {
    add(method, `${prefix}${path}`, (request, reply) => answer(request).handleCall(base, call, request, reply));
  }
  add('POST', `${prefix}${ENCODED_SEND}`, (request, reply) => {
    const { spelled } = request.params as { spelled: string };
    const call = spelled === 'message:stream' ? STREAM : SEND;
    return answer(request).handleCall(base, call, request, reply);
  });
  for (const method of ['GET', 'POST'] as const) {
    add(method, `${prefix}/tasks/:id`, (request, reply) => handleTask(answer(request), base, method, request, reply));
  }
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

function routeAdder(
  scope: FastifyInstance,
  base: AgentBase,
): (method: RouteMethod, url: string, handler: Handler) => void {
  const config: A2aRouteConfig = { a2a: { base, binding: 'rest' } };
  return (method, url, handler) => {
    scope.route({ method, url, config, exposeHeadRoute: false, handler });
  };
}

/** Handles `/tasks/{id}`, `/tasks/{id}:cancel` and `/tasks/{id}:subscribe`, which the router cannot distinguish. */
async function handleTask(
  binding: RestAnswer,
  base: AgentBase,
  method: 'GET' | 'POST',
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const call = taskCall(method, (request.params as { id: string }).id);
  if (call) return binding.handleCall(base, call, request, reply);
  return refuseRoute(request, reply);
}

/** Rejects a request to an unknown route below `/a2a`, with an error in the format of the caller's protocol version. */
async function refuseRoute(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const error = new A2AError('METHOD_NOT_FOUND', { message: 'No such route' });
  if (isUnknownLegacyRest(request)) sendLegacyRestError(reply, error);
  else sendRestError(request, reply, error);
}

function taskCall(method: 'GET' | 'POST', segment: string): RestCall | undefined {
  const colon = segment.lastIndexOf(':');
  const id = segment.slice(0, Math.max(colon, 0));
  const action = segment.slice(colon + 1);
  if (colon > 0 && action === 'subscribe') {
    const read = method === 'GET' ? getTaskParameters(id) : taskActionParameters(id);
    return { operation: OPERATIONS.SubscribeToTask, read };
  }
  if (method === 'GET') return { operation: OPERATIONS.GetTask, read: getTaskParameters(segment) };
  if (colon > 0 && action === 'cancel') return { operation: OPERATIONS.CancelTask, read: taskActionParameters(id) };
  return undefined;
}

export interface A2aRoutesOptions {
  handler: RequestHandler;
  catalog: AgentCatalog;
  address: PublicAddress;
  /** Maximum number of JSON members in one body; absent: the default value of `JSON_MEMBERS_LIMIT` applies. */
  jsonMembers?: number;
  /**
   * Schedules when a large body is parsed, since parsing occupies the event loop for long; absent: a large body is read
   * like a small one.
   */
  bodyTurn?: BodyTurn;
}

/** Handle on the registered routes. The shutdown ends their streams with it. */
export interface A2aRoutes {
  /** Ends every open stream after the item that is being sent; readers resume with the last id that they saw. */
  endStreams(): void;
}

/**
 * Registers the A2A surface: JSON-RPC, REST and cards below `/a2a`, and the service's card at the well-known path. Call
 * this function before the server is ready.
 *
 * - The surface is encapsulated: its body parsing, errors and unknown routes follow the protocol and affect no other
 *   route.
 * - The server's own `bodyLimit` applies to bodies.
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

/** Answers a request below `/a2a` whose URL cannot be parsed, with an error in the format of the protocol. */
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

/** Accepted content types of every binding: the protocol's own type, and plain JSON. */
const JSON_TYPES = ['application/json', 'application/a2a+json'];

/**
 * Makes a Fastify scope accept only JSON bodies.
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
 * Converts an error from before or outside a handler to the error that callers see. A body that is too large keeps HTTP
 * status 413, and a content type that is not JSON keeps 415. Both have reasons that only Parley uses:
 * ContentTypeNotSupportedError (section 5.4) does not fit, since it is a 400 about the media types in a Message.
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
