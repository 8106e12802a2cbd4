import type { FastifyReply, FastifyRequest } from 'fastify';
import { setRetryAfter } from '#libs/access';
import {
  type A2AError,
  type AgentCard,
  type JsonObject,
  type JsonValue,
  type ReadV03,
  readV03OnePushParams,
  readV03PushConfig,
  readV03PushParams,
  readV03SendParams,
  readV03TaskParams,
  type SendMessageResponse,
  type Task,
  type TaskPushNotificationConfig,
  writeV03PushConfig,
  writeV03StreamItem,
  writeV03Task,
} from '#libs/protocol';
import type { AgentBase, PublicAddress } from '../http/call-context.js';
import { type EventStreams, resumeCursor } from '../http/event-stream.js';
import { resultResponse, RpcFraming, type RpcId, type RpcRequest } from '../http/json-rpc-envelope.js';
import { type A2aOperation, OPERATIONS, type StreamOperation, type UnaryOperation } from '../operations.js';
import type { RequestHandler } from '../request-handler.js';
import {
  inLegacyWords,
  legacyCall,
  legacyError,
  legacyFraming,
  type LegacyWords,
  PUSH_CONFIG_WORDS,
  PUSH_PARAMS_WORDS,
  SEND_WORDS,
  setLegacyExtensions,
} from './legacy-call.js';

/** Method of A2A 0.3: its operation of 1.0, parameter reader, result writer, and names for fields of 1.0. */
type LegacyMethod = { read: ReadV03; words?: LegacyWords } & (
  | { operation: UnaryOperation; write: (result: never) => JsonValue }
  | { operation: StreamOperation }
);

const writeTask = (result: Task): JsonObject => writeV03Task(result);
const writeAnswer = (result: SendMessageResponse): JsonObject => writeV03StreamItem(result);
const writeConfig = (result: TaskPushNotificationConfig): JsonObject => writeV03PushConfig(result);
const writeConfigs = (result: { configs?: TaskPushNotificationConfig[] }): JsonObject[] =>
  (result.configs ?? []).map(writeV03PushConfig);
const writeNothing = (): null => null;
const writeCard = (result: AgentCard): JsonValue => result as unknown as JsonObject;

/** Methods of A2A 0.3 by name (section 7 of 0.3). */
const METHODS: ReadonlyMap<string, LegacyMethod> = new Map<string, LegacyMethod>([
  [
    'message/send',
    { operation: OPERATIONS.SendMessage, read: readV03SendParams, words: SEND_WORDS, write: writeAnswer },
  ],
  ['message/stream', { operation: OPERATIONS.SendStreamingMessage, read: readV03SendParams, words: SEND_WORDS }],
  ['tasks/get', { operation: OPERATIONS.GetTask, read: readV03TaskParams, write: writeTask }],
  ['tasks/cancel', { operation: OPERATIONS.CancelTask, read: readV03TaskParams, write: writeTask }],
  ['tasks/resubscribe', { operation: OPERATIONS.SubscribeToTask, read: readV03TaskParams }],
  [
    'tasks/pushNotificationConfig/set',
    {
      operation: OPERATIONS.CreateTaskPushNotificationConfig,
      read: readV03PushConfig,
      words: PUSH_CONFIG_WORDS,
      write: writeConfig,
    },
  ],
  [
    'tasks/pushNotificationConfig/get',
    {
      operation: OPERATIONS.GetTaskPushNotificationConfig,
      read: readV03OnePushParams,
      words: PUSH_PARAMS_WORDS,
      write: writeConfig,
    },
  ],
  [
    'tasks/pushNotificationConfig/list',
    {
      operation: OPERATIONS.ListTaskPushNotificationConfigs,
      read: readV03PushParams,
      words: PUSH_PARAMS_WORDS,
      write: writeConfigs,
    },
  ],
  [
    'tasks/pushNotificationConfig/delete',
    {
      operation: OPERATIONS.DeleteTaskPushNotificationConfig,
      read: readV03PushParams,
      words: PUSH_PARAMS_WORDS,
      write: writeNothing,
    },
  ],
  [
    'agent/getAuthenticatedExtendedCard',
    { operation: OPERATIONS.GetExtendedAgentCard, read: readV03TaskParams, write: writeCard },
  ],
]);

/** True for a method of A2A 0.3. */
export function isLegacyMethod(method: string): boolean {
  return METHODS.has(method);
}

/** Adapter from JSON-RPC of A2A 0.3 to the operations of 1.0. Errors have the codes and details of 1.0. */
export class LegacyJsonRpc {
  constructor(
    private readonly handler: RequestHandler,
    private readonly address: PublicAddress,
    private readonly streams: EventStreams,
  ) {}

  /** Answers a call of a legacy method; never rejects. */
  async handleMethod(
    base: AgentBase,
    id: RpcId,
    rpc: RpcRequest,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const method = METHODS.get(rpc.method) as LegacyMethod;
    try {
      await this.answerMethod(base, id, method, rpc.params as JsonValue, request, reply);
    } catch (error) {
      const shown = inLegacyWords(legacyError(error, isExtendedCard(method.operation)), method.words);
      // Load balancers and retries act on these statuses.
      if (shown.status === 503 || shown.status === 429) reply.code(shown.status);
      setRetryAfter(shown, reply);
      const body = legacyErrorResponse(id, shown);
      if (method.operation.kind === 'stream' && reply.statusCode === 200 && readsOnlyEvents(request))
        reply.header('content-type', 'text/event-stream').send(`data: ${body}\n\n`);
      else reply.header('content-type', 'application/json').send(body);
    }
  }

  private async answerMethod(
    base: AgentBase,
    id: RpcId,
    method: LegacyMethod,
    params: JsonValue,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { handler } = this;
    const call = legacyCall(base, request, reply, this.address);
    const agent = await handler.agentOfTasks(call);
    setLegacyExtensions(call, agent, reply);
    if ('write' in method) {
      const result = await method.operation.runOperation(handler, agent, method.read(params), call);
      const json = JSON.stringify(method.write(result as never));
      reply.header('content-type', 'application/json').send(resultResponse(id, json));
      return;
    }
    const { operation, read } = method;
    const cursor = operation.resumable ? resumeCursor(request) : {};
    const openItems = () => operation.openStream(handler, agent, read(params), call, cursor);
    await this.streams.sendStream(reply, openItems, legacyFraming(new LegacyRpcFraming(id), writeV03StreamItem));
  }
}

/** Framing of streams over JSON-RPC of 0.3. */
class LegacyRpcFraming extends RpcFraming {
  override frameError(error: A2AError): { data: string } {
    return { data: legacyErrorResponse(this.id, error) };
  }
}

/**
 * Builds the JSON of an error response. Its `data` is an object, as over HTTP+JSON: the SDK for Go of 0.3 reads no error
 * whose `data` is a list, as 1.0 has it.
 */
function legacyErrorResponse(id: RpcId, error: A2AError): string {
  const { code, message } = error;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data: { details: error.toDetails() } } });
}

function isExtendedCard(operation: A2aOperation): boolean {
  return operation === OPERATIONS.GetExtendedAgentCard;
}

/** True if the client accepts only event streams: the 0.3 SDKs read no error of a stream in any other form. */
function readsOnlyEvents({ headers }: FastifyRequest): boolean {
  return headers.accept?.trim().toLowerCase() === 'text/event-stream';
}
