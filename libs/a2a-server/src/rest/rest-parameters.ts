import type { FastifyRequest } from 'fastify';
import type { CallContext } from '#libs/executor';
import { invalidParams, isJsonObject, type JsonObject, protoNames, toJsonNames } from '#libs/protocol';
import { messageIdOf } from '../http/message-id.js';

/** Reads an operation's parameters from the places where a route carries them. */
export type ReadParameters = (request: FastifyRequest, call: CallContext) => JsonObject;

interface RouteParams {
  tenant?: string;
  id?: string;
  configId?: string;
}

/** The body; the path's tenant wins over the body's. An absent body is an empty object. */
export function bodyParameters(request: FastifyRequest): JsonObject {
  const body = request.body ?? {};
  if (!isJsonObject(body)) throw invalidParams({ field: 'body', description: 'must be a JSON object' });
  return { ...body, ...pathTenant(request) };
}

/** Where no path names a tenant, the query of a request without a body may (section 11.5). */
const TENANT = { tenant: 'string' } as const;

/** The query of ListTasks (section 11.5). */
export function listTasksParameters(request: FastifyRequest): JsonObject {
  return { ...queryFields(request, LIST_TASKS_FIELDS), ...pathTenant(request) };
}

/** The id of the path and the query of GetTask. */
export function getTaskParameters(id: string): ReadParameters {
  return (request) => ({ ...queryFields(request, { ...TENANT, historyLength: 'number' }), ...pathTenant(request), id });
}

/** The id of the path and whatever the body says beside it. */
export function taskActionParameters(id: string): ReadParameters {
  return (request) => ({ ...bodyParameters(request), id });
}

/**
 * The ids of the path, which win over the body's, the body if there is one, and the query: the page of a list, and the id
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

/** What is given by default, or beside the Message, is no second value of what the Message calls by another name. */
const SHORT_NAMES = protoNames(['contextId', 'taskId'], { message: protoNames(['messageId', 'contextId', 'taskId']) });

/** `POST /send-message` `{message, contextId?, taskId?}`: `message` is a text or a bare Message. */
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

/** Known query parameters by their types; a value that is not of its type is left for the schema to refuse. */
function queryFields(request: FastifyRequest, fields: Readonly<Record<string, FieldType>>): JsonObject {
  const query = request.query as Record<string, string | string[] | undefined>;
  const values: JsonObject = {};
  for (const [name, type] of Object.entries(fields)) {
    const value = query[name];
    if (value !== undefined && value !== '') values[name] = typed(value, type);
  }
  return values;
}

function typed(value: string | string[], type: FieldType): string | string[] | number | boolean {
  if (typeof value !== 'string') return value;
  if (type === 'number' && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function pathTenant(request: FastifyRequest): { tenant?: string } {
  const { tenant } = request.params as RouteParams;
  return tenant === undefined ? {} : { tenant };
}
