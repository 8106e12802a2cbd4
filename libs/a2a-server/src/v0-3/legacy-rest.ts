import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import { setRetryAfter } from '#libs/access';
import {
  type A2AError,
  type AgentCard,
  decodeFilesOnce,
  encodeFilesTwice,
  type FileEncoding,
  fileEncodingOf,
  invalidParams,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ListTasksResponse,
  type Message,
  protoNames,
  type ReadV03,
  readV03RestPushConfig,
  readV03RestSend,
  readV03SendParams,
  readV03TaskParams,
  type SendMessageResponse,
  type Task,
  type TaskPushNotificationConfig,
  toJsonNames,
  writeV03RestItem,
  writeV03RestPushConfig,
  writeV03RestTask,
  writeV03Task,
} from '#libs/protocol';
import { messageIdOf } from '../extensions.js';
import {
  type AgentBase,
  BASE_ROUTES,
  isLegacyVersion,
  type PublicAddress,
  requestedVersion,
} from '../http/call-context.js';
import { type EventStreams, resumeCursor, type StreamFraming } from '../http/event-stream.js';
import type { RestCall } from '../http/rest-binding.js';
import { type A2aOperation, OPERATIONS } from '../operations.js';
import { completedByReply } from '../pre-1-0/pre-1-0-dialect.js';
import type { RequestHandler } from '../request-handler.js';
import { parseSendMessage } from '../validation/request-parsers.js';
import {
  inLegacyWords,
  legacyCall,
  legacyError,
  legacyFraming,
  type LegacyWords,
  PUSH_CONFIG_WORDS,
  REST_SEND_WORDS,
  SEND_WORDS,
  setLegacyExtensions,
} from './legacy-call.js';

/** Parameter reader, result writer and field names of an operation in HTTP+JSON of 0.3; a stream has no `write`. */
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
 * Writes a card for HTTP+JSON of 0.3, with the security requirements under two names: `securityRequirements`, as in
 * ProtoJSON of 0.3 (and in 1.0), and `security`, as in JSON of 0.3.
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

/** True for a request of 0.3: its path begins with `v1` below an agent's base URL, which 1.0 reads as a tenant. */
export function isLegacyRest(request: FastifyRequest): boolean {
  const { tenant } = request.params as { tenant?: string };
  return tenant === 'v1' && isLegacyVersion(requestedVersion(request));
}

const BASES = Object.values(BASE_ROUTES).map((route) => route.replaceAll(/:\w+/g, '[^/]+'));
const BELOW_V1 = new RegExp(`^/a2a(?:${BASES.join('|')})/v1(?:[/?]|$)`);

/** True for a request of 0.3 over HTTP+JSON, even if its path has no route. */
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
    const files = fileEncodingOf(request.headers['user-agent']);
    const { read, write } = shapesOf(operation, files);
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
    await this.streams.sendStream(reply, openItems, FRAMINGS[files]);
  }
}

/** Returns the shapes of an operation for clients that encode files in the given way. */
function shapesOf(operation: A2aOperation, files: FileEncoding): LegacyShapes {
  const shapes = SHAPES.get(operation) as LegacyShapes;
  const { read, write } = shapes;
  if (files === 'once') return shapes;
  return {
    read: (given) => decodeFilesOnce(read(given)),
    ...(write && { write: (result: object) => write(encodeFilesTwice(result) as never) }),
  };
}

/** Sends an error in the format of HTTP+JSON of 0.3, which contains the error code of JSON-RPC. */
export function sendLegacyRestError(reply: FastifyReply, error: A2AError): void {
  setRetryAfter(error, reply);
  reply.code(error.status).header('content-type', 'application/json').send(errorBody(error));
}

const PLAIN: StreamFraming = {
  frameItem: ({ json }) => json,
  frameError: (error) => ({ event: 'error', data: errorBody(error) }),
};
const FRAMINGS = {
  once: legacyFraming(PLAIN, writeV03RestItem),
  twice: legacyFraming(PLAIN, (response) => writeV03RestItem(encodeFilesTwice(response))),
};

function errorBody(error: A2AError): string {
  const { code, message } = error;
  return JSON.stringify({ type: errorType(error), code, message, data: { details: error.toDetails() } });
}

/** Returns the name by which the SDK for Python tells errors of HTTP+JSON apart, such as `TaskNotFoundError`. */
function errorType({ reason }: A2AError): string {
  if (reason === 'PARSE_ERROR') return 'JSONParseError';
  const words = reason.split('_').map((word) => `${word.charAt(0)}${word.slice(1).toLowerCase()}`);
  return `${words.join('')}Error`;
}

const NAMES = protoNames(['contextId', 'taskId'], { message: protoNames(['messageId', 'contextId', 'taskId']) });

/**
 * True if the body of `POST /send-message` has a Message in the format of A2A 0.3: its role is `user` or `agent`, or
 * one of its Parts has `kind` or `type`.
 */
export function hasLegacyMessage(body: unknown): body is JsonObject & { message: JsonObject } {
  if (!isJsonObject(body) || !isJsonObject(body.message)) return false;
  const { role, parts } = body.message;
  return role === 'user' || role === 'agent' || kindOf(parts) !== undefined;
}

/**
 * Handler of `POST /send-message` in the format of A2A 0.3: `{message: {role: "user", parts: [{kind: "text", text}]},
 * contextId?, taskId?}`. Parts may have `type` instead of `kind`, or neither. The answer is the Task in the format of
 * 0.3, with its id also as `taskId`, once the Task ends or waits.
 */
export class LegacySendMessage {
  constructor(
    private readonly handler: RequestHandler,
    private readonly address: PublicAddress,
  ) {}

  /** Answers a request for which `hasLegacyMessage` is true; never rejects. */
  async handleMessage(base: AgentBase, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      const task = await this.sendLegacy(base, request, reply);
      const answer = { ...writeV03Task(task), taskId: task.id };
      reply.header('content-type', 'application/json').send(JSON.stringify(answer));
    } catch (error) {
      sendLegacyRestError(reply, inLegacyWords(legacyError(error, false), SEND_WORDS));
    }
  }

  private async sendLegacy(base: AgentBase, request: FastifyRequest, reply: FastifyReply): Promise<Task> {
    const call = legacyCall(base, request, reply, this.address);
    const agent = await this.handler.agentOfTasks(call);
    setLegacyExtensions(call, agent, reply);
    const newId = (metadata: JsonValue | undefined): string => messageIdOf(call, metadata);
    const sent = parseSendMessage(paramsOf(request.body as JsonObject, newId));
    const answer = await this.handler.sendMessage(agent, sent, call);
    return 'task' in answer ? answer.task : repliedTask(sent.message, answer.message);
  }
}

/**
 * Converts a body of `POST /send-message` to the parameters of 1.0.
 * @param newId creates an id for a Message without an id, from the Message's metadata
 * @throws A2AError INVALID_PARAMS if the body mixes members of 0.3 and 1.0, or has different ids in the Message and
 *   beside it
 */
function paramsOf(body: JsonObject, newId: (metadata: JsonValue | undefined) => string): JsonValue {
  toJsonNames(body, NAMES);
  const { contextId, taskId, ...rest } = body;
  const message = body.message as JsonObject;
  requireOneVersion(message);
  const { contextId: contextInside, taskId: taskInside, ...withoutIds } = message;
  const said: JsonObject = {
    messageId: newId(message.metadata),
    role: 'user',
    ...withoutIds,
    ...oneId('contextId', contextInside, contextId),
    ...oneId('taskId', taskInside, taskId),
    ...(Array.isArray(message.parts) && { parts: message.parts.map(withKind) }),
  };
  return readV03SendParams({ ...rest, message: said });
}

function requireOneVersion({ role, parts }: JsonObject): void {
  const word = kindOf(parts);
  if (typeof role !== 'string' || !role.startsWith('ROLE_') || word === undefined) return;
  throw invalidParams({
    field: 'message',
    description: `has the role of A2A 1.0 (message.role) and a Part of 0.3 (message.parts, ${word}): use one of them`,
  });
}

/**
 * Returns the name of the member that names the kind of a Part, by the first Part that has `kind` or `type`;
 * `undefined` if no Part has either.
 */
function kindOf(parts: JsonValue | undefined): 'kind' | 'type' | undefined {
  if (!Array.isArray(parts)) return undefined;
  for (const part of parts) {
    if (!isJsonObject(part)) continue;
    if (part.kind !== undefined) return 'kind';
    if (part.type !== undefined) return 'type';
  }
  return undefined;
}

/**
 * Returns an object with an id that is a member of the Message or of the object around it; an empty object without an
 * id. `null` counts as absent: clients reset their ids by sending null.
 * @param name name of the id's member
 * @throws A2AError INVALID_PARAMS if the two ids differ
 */
function oneId(name: string, inside: JsonValue = null, beside: JsonValue = null): JsonObject {
  if (inside !== null && beside !== null && inside !== beside)
    throw invalidParams({ field: name, description: `differs from message.${name}` });
  const id = beside ?? inside;
  return id === null ? {} : { [name]: id };
}

function withKind(part: JsonValue): JsonValue {
  if (!isJsonObject(part) || part.kind !== undefined) return part;
  const { type, ...rest } = part;
  const kind = type ?? ['text', 'data', 'file'].find((name) => rest[name] !== undefined);
  return kind === undefined ? part : { ...rest, kind };
}

/** Converts a direct Message of an agent to a Task, which clients of 0.3 expect; the Task is not stored. */
function repliedTask(said: Message, reply: Message): Task {
  const task = completedByReply(said, reply, randomUUID());
  return { ...task, status: { ...task.status, message: reply }, history: [said, reply] };
}
