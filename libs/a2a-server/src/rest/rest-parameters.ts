import type { FastifyRequest } from 'fastify';
import type { CallContext } from '#libs/executor';
import { invalidParams, isJsonObject, type JsonObject, protoNames, toJsonNames } from '#libs/protocol';
import { messageIdOf } from '../http/message-id.js';

/** Reads an operation's parameters from the parts of a request. */
export type ReadParameters = (request: FastifyRequest, call: CallContext) => JsonObject;

interface RouteParams {
  tenant?: string;
  id?: string;
  configId?: string;
}

/** Reads the body; the path's tenant takes precedence. An absent body is an empty object. */
export function bodyParameters(request: FastifyRequest): JsonObject {
  const body = request.body ?? {};
  if (!isJsonObject(body)) throw invalidParams({ field: 'body', description: 'must be a JSON object' });
  return { ...body, ...pathTenant(request) };
}

/** Query parameter for the tenant of requests without a body, if the path has none (section 11.5). */
const TENANT = { tenant: 'string' } as const;

/** Reads the query of ListTasks (section 11.5). */
export function listTasksParameters(request: FastifyRequest): JsonObject {
  return { ...queryFields(request, LIST_TASKS_FIELDS), ...pathTenant(request) };
}

/** Returns the reader of the path's id and the query of GetTask. */
export function getTaskParameters(id: string): ReadParameters {
  return (request) => ({ ...queryFields(request, { ...TENANT, historyLength: 'number' }), ...pathTenant(request), id });
}

/** Returns the reader of the path's id and the body. */
export function taskActionParameters(id: string): ReadParameters {
  return (request) => ({ ...bodyParameters(request), id });
}

/**
 * Reads the ids of the path, which take precedence, the optional body, and the query: the page of a list, and the id
 * that 0.3 gives a new config.
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
 * Names that are normalized first, so that defaults and members beside the Message do not conflict with schema names
 * inside it.
 */
const SHORT_NAMES = protoNames(['contextId', 'taskId'], { message: protoNames(['messageId', 'contextId', 'taskId']) });

/** Reads `POST /send-message` `{message, contextId?, taskId?}`: `message` is a text or a bare Message. */
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

/** Reads known query parameters by type; a value of another type is left for the schema to reject. */
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
