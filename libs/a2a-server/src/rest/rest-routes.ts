import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { A2AError } from '#libs/protocol';
import { AGENT_BASES, type AgentBase, BASE_ROUTES } from '../http/agent-base.js';
import type { A2aRouteConfig } from '../http/call-context.js';
import { OPERATIONS } from '../operations.js';
import { isLegacyRest, isUnknownLegacyRest, type LegacyRest, sendLegacyRestError } from '../legacy/legacy-rest.js';
import { hasLegacyMessage, type LegacySendMessage } from '../legacy/legacy-send-message.js';
import type { RestBinding, RestCall } from './rest-binding.js';
import {
  bodyParameters,
  getTaskParameters,
  listTasksParameters,
  pushConfigParameters,
  sendMessageParameters,
  taskActionParameters,
  tenantParameters,
} from './rest-parameters.js';
import { sendRestError } from './rest-response.js';

type RouteMethod = 'GET' | 'POST' | 'DELETE';

const SEND: RestCall = { operation: OPERATIONS.SendMessage, read: bodyParameters };
const STREAM: RestCall = { operation: OPERATIONS.SendStreamingMessage, read: bodyParameters };

/**
 * Route for a percent-encoded colon (RFC 3986, section 2.2), as some clients send it: the router compares static paths
 * as sent, and parameters decoded.
 */
const ENCODED_SEND = '/:spelled(^message:(?:send|stream)$)';

/** Routes of operations, below a base URL with or without a tenant; `::` is a colon. */
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

/** Call for the extended card of 0.3, below `/v1`. */
const LEGACY_CARD: RestCall = { operation: OPERATIONS.GetExtendedAgentCard, read: tenantParameters };

const SEND_MESSAGE: RestCall = { operation: OPERATIONS.SendMessage, read: sendMessageParameters, anyVersion: true };

/** Answers a REST call. */
type RestAnswer = Pick<RestBinding, 'handleCall'>;

/** Handlers for callers of A2A 0.3: paths that begin with `v1`, and Messages in its format at `/send-message`. */
interface LegacyAnswers {
  rest: LegacyRest;
  sendMessage: LegacySendMessage;
}

/** Registers the REST binding below every base URL. */
export function registerRestRoutes(
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

/** Rejects an unknown route below `/a2a`, in the format of the caller's version. */
export async function refuseRoute(request: FastifyRequest, reply: FastifyReply): Promise<void> {
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
