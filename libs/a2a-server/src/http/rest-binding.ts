import type { FastifyReply, FastifyRequest } from 'fastify';
import { setRetryAfter } from '#libs/access';
import type { CallContext } from '#libs/agents';
import { type A2AError, invalidParams, isJsonObject, type JsonObject, protoNames, toJsonNames } from '#libs/protocol';
import { sendCard } from '../cards/served-cards.js';
import { messageIdOf } from '../extensions.js';
import { type A2aOperation, OPERATIONS } from '../operations.js';
import { publicError } from '../public-error.js';
import type { RequestHandler } from '../request-handler.js';
import {
  type AgentBase,
  atTenant,
  callContext,
  type PublicAddress,
  requestedVersion,
  requireSupportedVersion,
  setActivatedExtensions,
} from './call-context.js';
import { type EventStreams, resumeCursor, type StreamFraming } from './event-stream.js';

const A2A_JSON = 'application/a2a+json';
const PLAIN_JSON = 'application/json';

/** Sends JSON as `application/a2a+json`, or as `application/json` if the caller accepts only that (section 11.1). */
function sendRest(request: FastifyRequest, reply: FastifyReply, json: string): void {
  const { accept } = request.headers;
  const plain = accept !== undefined && accept.includes(PLAIN_JSON) && !accept.includes(A2A_JSON);
  reply.header('content-type', plain ? PLAIN_JSON : A2A_JSON).send(json);
}

/** Sends an error as `google.rpc.Status` with its HTTP status (section 11.6). */
export function sendRestError(request: FastifyRequest, reply: FastifyReply, error: A2AError): void {
  reply.code(error.status);
  setRetryAfter(error, reply);
  sendRest(request, reply, restErrorBody(error));
}

function restErrorBody(error: A2AError): string {
  const { status, grpc, message } = error;
  return JSON.stringify({ error: { code: status, status: grpc, message, details: error.toDetails() } });
}

/** Framing of streams over REST: items unchanged; a later error is an SSE event of type `error` (section 11.7). */
const REST_FRAMING: StreamFraming = {
  frameItem: ({ json }) => json,
  frameError: (error) => ({ event: 'error', data: restErrorBody(error) }),
};

/** Function that reads an operation's parameters from the parts of a request. */
type ReadParameters = (request: FastifyRequest, call: CallContext) => JsonObject;

interface RouteParams {
  tenant?: string;
  id?: string;
  configId?: string;
}

/** Reads the parameters from the body. The tenant in the path takes precedence. An absent body is an empty object. */
export function bodyParameters(request: FastifyRequest): JsonObject {
  const body = request.body ?? {};
  if (!isJsonObject(body)) throw invalidParams({ field: 'body', description: 'must be a JSON object' });
  return { ...body, ...pathTenant(request) };
}

/** Query parameter for the tenant of requests without a body, used if the path has no tenant (section 11.5). */
const TENANT = { tenant: 'string' } as const;

/** Reads the parameters of ListTasks from the query (section 11.5). */
export function listTasksParameters(request: FastifyRequest): JsonObject {
  return { ...queryFields(request, LIST_TASKS_FIELDS), ...pathTenant(request) };
}

/**
 * Returns the function that reads the parameters of GetTask from the query.
 * @param id Task id in the path
 */
export function getTaskParameters(id: string): ReadParameters {
  return (request) => ({ ...queryFields(request, { ...TENANT, historyLength: 'number' }), ...pathTenant(request), id });
}

/**
 * Returns the function that reads the parameters of an operation on one Task from the body.
 * @param id Task id in the path
 */
export function taskActionParameters(id: string): ReadParameters {
  return (request) => ({ ...bodyParameters(request), id });
}

/**
 * Reads the parameters of an operation on push notification configs: from the path, the query and the optional body.
 * The ids in the path take precedence. The query may have `pageSize` and `pageToken` of a list, and `configId`, by
 * which clients of 0.3 give a new config its id.
 */
export function pushConfigParameters(request: FastifyRequest): JsonObject {
  const { id, configId } = request.params as RouteParams;
  const { task_id: _, ...body } = bodyParameters(request);
  return {
    ...body,
    ...queryFields(request, { ...TENANT, pageSize: 'number', pageToken: 'string', configId: 'string' }),
    ...pathTenant(request),
    taskId: id ?? '',
    ...(configId !== undefined && { id: configId }),
  };
}

export function tenantParameters(request: FastifyRequest): JsonObject {
  return { ...queryFields(request, TENANT), ...pathTenant(request) };
}

/**
 * Members whose names of `a2a.proto` (`context_id`) are converted to JSON names (`contextId`) before the ids next to
 * the Message are moved into the Message. Without this, the Message could contain one id under two names.
 */
const SHORT_NAMES = protoNames(['contextId', 'taskId'], { message: protoNames(['messageId', 'contextId', 'taskId']) });

/**
 * Reads the parameters of `POST /send-message` from `{message, contextId?, taskId?}`: `message` is a text, or a Message
 * that may lack its id and role.
 */
export function sendMessageParameters(request: FastifyRequest, call: CallContext): JsonObject {
  const body = bodyParameters(request);
  toJsonNames(body, SHORT_NAMES);
  const { message, contextId, taskId, ...rest } = body;
  const ids = { ...(contextId !== undefined && { contextId }), ...(taskId !== undefined && { taskId }) };
  if (typeof message === 'string' || isJsonObject(message)) {
    const given: JsonObject = typeof message === 'string' ? { parts: [{ text: message }] } : message;
    return { ...rest, message: { messageId: messageIdOf(call, given.metadata), role: 'ROLE_USER', ...given, ...ids } };
  }
  throw invalidParams({
    field: 'message',
    description: message === undefined ? 'is required' : 'must be a string or an object',
  });
}

type FieldType = 'string' | 'number' | 'boolean';

const LIST_TASKS_FIELDS: Readonly<Record<string, FieldType>> = {
  ...TENANT,
  contextId: 'string',
  status: 'string',
  pageSize: 'number',
  pageToken: 'string',
  historyLength: 'number',
  statusTimestampAfter: 'string',
  includeArtifacts: 'boolean',
};

/** Reads known query parameters by type. A value that does not fit its type is left for the schema to reject. */
function queryFields(request: FastifyRequest, fields: Readonly<Record<string, FieldType>>): JsonObject {
  const query = request.query as Record<string, string | string[] | undefined>;
  const values: JsonObject = {};
  for (const [name, type] of Object.entries(fields)) {
    const value = query[name];
    if (value !== undefined && value !== '') values[name] = readTyped(value, type);
  }
  return values;
}

function readTyped(value: string | string[], type: FieldType): string | string[] | number | boolean {
  if (typeof value !== 'string') return value;
  if (type === 'number' && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function pathTenant(request: FastifyRequest): { tenant?: string } {
  const { tenant } = request.params as RouteParams;
  return tenant === undefined ? {} : { tenant };
}

/** Operation of a REST route, with the function that reads its parameters. */
export interface RestCall {
  operation: A2aOperation;
  read: ReadParameters;
  /** True for `/send-message`, a route from before the `A2A-Version` header: it accepts requests of any version. */
  anyVersion?: boolean;
}

/** HTTP+JSON binding (section 11). Checks come in this order: JSON, version, agent, parameters. */
export class RestBinding {
  constructor(
    private readonly handler: RequestHandler,
    private readonly address: PublicAddress,
    private readonly streams: EventStreams,
  ) {}

  async handleCall(base: AgentBase, rest: RestCall, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      if (!rest.anyVersion) requireSupportedVersion(requestedVersion(request));
      await this.answerCall(base, rest, request, reply);
    } catch (error) {
      sendRestError(request, reply, publicError(error));
    }
  }

  private async answerCall(
    base: AgentBase,
    rest: RestCall,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { operation } = rest;
    const came = callContext(base, request, reply, this.address);
    // The service always exists, and its parameters may name another agent.
    const given = base === 'service' ? rest.read(request, came) : undefined;
    const call = atTenant(came, given);
    await operation.at(this.handler, call, async (found) => {
      setActivatedExtensions(call, found, reply);
      const params = given ?? rest.read(request, call);
      if (operation === OPERATIONS.GetExtendedAgentCard) {
        const agent = await this.handler.agentOfTenant(found, params as { tenant?: string }, call);
        const card = await this.handler.extendedAgentCard(
          agent,
          agent === found ? call : { ...call, agent: agent.path },
        );
        const { cards } = this.handler;
        const caching = { shared: false, maxAgeMs: cards.maxAgeMs, varyBy: [] };
        return sendCard(request, reply, cards.writtenCard(agent, card), caching);
      }
      if (operation.kind === 'unary') {
        sendRest(request, reply, await operation.answerJson(this.handler, found, params, call));
        return;
      }
      const cursor = operation.resumable ? resumeCursor(request) : {};
      const readStream = () => operation.openStream(this.handler, found, params, call, cursor);
      await this.streams.sendStream(reply, readStream, REST_FRAMING);
    });
  }
}
