import type { FastifyReply, FastifyRequest } from 'fastify';
import { setRetryAfter } from '#libs/access';
import {
  type A2AError,
  type AgentCard,
  type JsonObject,
  type JsonValue,
  type ListTasksResponse,
  type ReadV03,
  readV03RestPushConfig,
  readV03RestSend,
  readV03TaskParams,
  type SendMessageResponse,
  type Task,
  type TaskPushNotificationConfig,
  writeV03RestItem,
  writeV03RestPushConfig,
  writeV03RestTask,
} from '#libs/protocol';
import { type AgentBase, BASE_ROUTES } from '../http/agent-base.js';
import type { PublicAddress } from '../http/call-context.js';
import type { EventStreams, StreamFraming } from '../http/event-stream.js';
import { isLegacyVersion, requestedVersion } from '../http/protocol-version.js';
import { resumeCursor } from '../http/resume-cursor.js';
import { type A2aOperation, OPERATIONS } from '../operations.js';
import type { RequestHandler } from '../request-handler.js';
import type { RestCall } from '../rest/rest-binding.js';
import { legacyCall, legacyError, legacyFraming, setLegacyExtensions } from './legacy-call.js';
import { inLegacyWords, type LegacyWords, PUSH_CONFIG_WORDS, REST_SEND_WORDS } from './legacy-words.js';

/** Readers, writers and names of an operation in HTTP+JSON of 0.3; a stream has no `write`. */
interface LegacyShapes {
  read: ReadV03;
  words?: LegacyWords;
  write?: (result: never) => JsonValue;
}

const writeRestTask = (result: Task): JsonObject => writeV03RestTask(result);
const writeRestAnswer = (result: SendMessageResponse): JsonObject => writeV03RestItem(result);
const writeRestTasks = ({ tasks: page, nextPageToken }: ListTasksResponse): JsonObject => ({
  tasks: page.map(writeV03RestTask),
  nextPageToken,
});
const writeRestConfig = (result: TaskPushNotificationConfig): JsonObject => writeV03RestPushConfig(result);
const writeRestConfigs = (result: { configs?: TaskPushNotificationConfig[]; nextPageToken?: string }): JsonObject => ({
  configs: (result.configs ?? []).map(writeV03RestPushConfig),
  nextPageToken: result.nextPageToken ?? '',
});
const writeRestNothing = (): JsonObject => ({});
/**
 * Writes a card. ProtoJSON of 0.3 has requirements in the shape that 1.0 kept; `security` is their name in JSON of 0.3.
 */
const writeRestCard = ({ securityRequirements: security, ...rest }: AgentCard): JsonValue =>
  ({ ...rest, ...(security && { securityRequirements: security, security }) }) as unknown as JsonObject;

const SHAPES: ReadonlyMap<A2aOperation, LegacyShapes> = new Map<A2aOperation, LegacyShapes>([
  [OPERATIONS.SendMessage, { read: readV03RestSend, words: REST_SEND_WORDS, write: writeRestAnswer }],
  [OPERATIONS.SendStreamingMessage, { read: readV03RestSend, words: REST_SEND_WORDS }],
  [OPERATIONS.GetTask, { read: readV03TaskParams, write: writeRestTask }],
  [OPERATIONS.ListTasks, { read: readV03TaskParams, write: writeRestTasks }],
  [OPERATIONS.CancelTask, { read: readV03TaskParams, write: writeRestTask }],
  [OPERATIONS.SubscribeToTask, { read: readV03TaskParams }],
  [
    OPERATIONS.CreateTaskPushNotificationConfig,
    { read: readV03RestPushConfig, words: PUSH_CONFIG_WORDS, write: writeRestConfig },
  ],
  [OPERATIONS.GetTaskPushNotificationConfig, { read: readV03TaskParams, write: writeRestConfig }],
  [OPERATIONS.ListTaskPushNotificationConfigs, { read: readV03TaskParams, write: writeRestConfigs }],
  [OPERATIONS.DeleteTaskPushNotificationConfig, { read: readV03TaskParams, write: writeRestNothing }],
  [OPERATIONS.GetExtendedAgentCard, { read: readV03TaskParams, write: writeRestCard }],
]);

/** True for a path of 0.3: it begins with `v1` below an agent's base, which 1.0 would read as a tenant. */
export function isLegacyRest(request: FastifyRequest): boolean {
  const { tenant } = request.params as { tenant?: string };
  return tenant === 'v1' && isLegacyVersion(requestedVersion(request));
}

const BASES = Object.values(BASE_ROUTES).map((route) => route.replaceAll(/:\w+/g, '[^/]+'));
const BELOW_V1 = new RegExp(`^/a2a(?:${BASES.join('|')})/v1(?:[/?]|$)`);

/** True for a path of 0.3 without a route. */
export function isUnknownLegacyRest(request: FastifyRequest): boolean {
  return BELOW_V1.test(request.url) && isLegacyVersion(requestedVersion(request));
}

/** Adapter from HTTP+JSON of A2A 0.3 (`/v1/message:send` and so on) to the operations of 1.0. */
export class LegacyRest {
  constructor(
    private readonly handler: RequestHandler,
    private readonly address: PublicAddress,
    private readonly streams: EventStreams,
  ) {}

  async handleCall(base: AgentBase, rest: RestCall, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      await this.answerCall(base, rest, request, reply);
    } catch (error) {
      const shown = legacyError(error, rest.operation === OPERATIONS.GetExtendedAgentCard);
      sendLegacyRestError(reply, inLegacyWords(shown, SHAPES.get(rest.operation)?.words));
    }
  }

  private async answerCall(
    base: AgentBase,
    rest: RestCall,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { handler } = this;
    const { operation } = rest;
    const { read, write } = SHAPES.get(operation) as LegacyShapes;
    const call = legacyCall(base, request, reply, this.address);
    const agent = await handler.agentOfTasks(call);
    setLegacyExtensions(call, agent, reply);
    const { tenant: _prefix, ...given } = rest.read(request, call);
    if (operation.kind === 'unary') {
      const result = await operation.runOperation(handler, agent, read(given), call);
      reply.header('content-type', 'application/json').send(JSON.stringify(write?.(result as never)));
      return;
    }
    const cursor = operation.resumable ? resumeCursor(request) : {};
    const openItems = () => operation.openStream(handler, agent, read(given), call, cursor);
    await this.streams.sendStream(reply, openItems, FRAMING);
  }
}

/** Sends an error of 0.3, which has the code of JSON-RPC. */
export function sendLegacyRestError(reply: FastifyReply, error: A2AError): void {
  setRetryAfter(error, reply);
  reply.code(error.status).header('content-type', 'application/json').send(errorBody(error));
}

const PLAIN: StreamFraming = {
  frameItem: ({ json }) => json,
  frameError: (error) => ({ event: 'error', data: errorBody(error) }),
};
const FRAMING = legacyFraming(PLAIN, writeV03RestItem);

function errorBody(error: A2AError): string {
  return JSON.stringify({ code: error.code, message: error.message, data: { details: error.toDetails() } });
}
