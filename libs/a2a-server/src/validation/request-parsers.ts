import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { tooManyMembers } from '#libs/http-server';
import {
  A2AError,
  type CancelTaskRequest,
  type FieldViolation,
  type GetTaskRequest,
  invalidParams,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ListTasksRequest,
  protoName,
  protoNames,
  type ProtoNames,
  type SendMessageRequest,
  standardBase64,
  type SubscribeToTaskRequest,
  type TaskPushNotificationConfig,
  toJsonNames,
} from '#libs/protocol';
import { fieldViolations, REQUEST_FORMATS, REQUEST_SCHEMAS } from './request-schemas.js';

/** Maximum nesting of JSON, equal to the limit of protobuf's own parsers. */
const MAX_JSON_DEPTH = 100;

/**
 * Maximum number of entries in one list of a Message or its configuration; a longer list is rejected before its entries
 * are checked.
 */
const MAX_LIST_LENGTH = 1000;

/**
 * Finds the reason why a parsed JSON value must not be stored; `undefined` if there is none.
 *
 * - The value is nested deeper than MAX_JSON_DEPTH: serializing it would overflow the stack.
 * - A number is beyond IEEE 754: `1e999` parses as Infinity and would be written as `null`.
 */
function unfitJson(value: unknown): FieldViolation | undefined {
  const found = findUnfit(value, MAX_JSON_DEPTH);
  return found && { field: found.path.replace(/^\./, '') || 'params', description: found.description };
}

interface UnfitPlace {
  path: string;
  description: string;
}

function findUnfit(value: unknown, depthLeft: number): UnfitPlace | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : { path: '', description: 'must be a finite number' };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depthLeft === 0) return { path: '', description: `must not be nested deeper than ${MAX_JSON_DEPTH} levels` };
  return Array.isArray(value) ? searchArray(value, depthLeft) : searchObject(value, depthLeft);
}

function searchArray(values: readonly unknown[], depthLeft: number): UnfitPlace | undefined {
  for (let index = 0; index < values.length; index++) {
    const found = findUnfit(values[index], depthLeft - 1);
    if (found) return { path: `[${index}]${found.path}`, description: found.description };
  }
  return undefined;
}

function searchObject(value: object, depthLeft: number): UnfitPlace | undefined {
  for (const key of Object.keys(value)) {
    const found = findUnfit((value as Record<string, unknown>)[key], depthLeft - 1);
    if (found) return { path: `.${key}${found.path}`, description: found.description };
  }
  return undefined;
}

/** Creates the error for a request whose JSON has too many members. */
export function tooManyMembersError(limit: number): A2AError {
  const description = tooManyMembers(limit);
  const violations = [{ field: 'body', description }];
  return new A2AError('INVALID_REQUEST', { message: `The body ${description}`, violations });
}

/** Pattern of integers. The largest integer in requests is an int32, with ten digits. */
const INTEGER = /^-?\d{1,10}$/;

/**
 * Converts, in place, values that a schema rejected although ProtoJSON accepts them: an integer written as a string,
 * and an enum written as its number (`numbers` in the schema). Runs only after a rejection, so usual requests pay
 * nothing.
 * @returns true if any value was converted, so that validation is worth repeating
 */
function respellValues(params: JsonObject, errors: readonly ErrorObject[]): boolean {
  let found = false;
  for (const error of errors) {
    const value = respelledValue(error);
    if (value === undefined) continue;
    const path = error.instancePath.split('/').slice(1);
    const name = path.pop() ?? '';
    const holder = path.reduce<JsonValue | undefined>((at, step) => (at as JsonObject)[step], params) as JsonObject;
    holder[name] = value;
    found = true;
  }
  return found;
}

function respelledValue({ keyword, parentSchema, data }: ErrorObject): string | number | undefined {
  if (keyword !== 'type') return undefined;
  const { type, numbers } = parentSchema as { type?: unknown; numbers?: Readonly<Record<number, string>> };
  if (typeof data === 'number') return numbers?.[data];
  return type === 'integer' && typeof data === 'string' && INTEGER.test(data) ? Number(data) : undefined;
}

/**
 * Function that converts the parameters of an operation to its request, in place.
 *
 * - Members named as in `a2a.proto` (`task_id`) get their JSON names.
 * - Unknown members are dropped.
 * - An optional member that is `null` or an empty text becomes `undefined`.
 *
 * @throws A2AError INVALID_PARAMS with one violation per invalid field
 */
export type RequestParser<T> = (params: unknown) => T;

const ajv = new Ajv({ strict: true, allErrors: true, verbose: true, removeAdditional: true, allowUnionTypes: false });
for (const [name, validate] of Object.entries(REQUEST_FORMATS)) ajv.addFormat(name, { type: 'string', validate });
ajv.addKeyword({
  keyword: 'exactlyOneOf',
  type: 'object',
  schemaType: 'array',
  validate: hasExactlyOne,
  errors: false,
});

/**
 * Names of an enum by their numbers in `a2a.proto`. The keyword `numbers` checks nothing: it is data for
 * `respellValues`.
 */
ajv.addKeyword({ keyword: 'numbers', schemaType: 'array' });

export const parseSendMessage = createParser<SendMessageRequest>(REQUEST_SCHEMAS.sendMessage, {
  before: oversizedList,
  after: normalizeSendMessage,
});
export const parseGetTask = createParser<GetTaskRequest>(REQUEST_SCHEMAS.getTask);
export const parseListTasks = createParser<ListTasksRequest>(REQUEST_SCHEMAS.listTasks, { after: normalizeListTasks });
export const parseCancelTask = createParser<CancelTaskRequest>(REQUEST_SCHEMAS.cancelTask);
export const parseSubscribeToTask = createParser<SubscribeToTaskRequest>(REQUEST_SCHEMAS.subscribeToTask);
export const parseCreatePushConfig = createParser<TaskPushNotificationConfig & { taskId: string }>(
  REQUEST_SCHEMAS.createPushConfig,
  { after: normalizePushConfig },
);
export const parseOnePushConfig = createParser<{ tenant?: string; taskId: string; id: string }>(
  REQUEST_SCHEMAS.onePushConfig,
);
export const parseListPushConfigs = createParser<{
  tenant?: string;
  taskId: string;
  pageSize?: number;
  pageToken?: string;
}>(REQUEST_SCHEMAS.listPushConfigs);
export const parseGetExtendedAgentCard = createParser<{ tenant?: string }>(REQUEST_SCHEMAS.getExtendedAgentCard);

interface ParserSteps {
  /** Checks the parameters before the schema validation; returns the violation, if there is one. */
  before?: (params: Fields) => FieldViolation | undefined;
  /** Normalizes a valid request. */
  after?: (request: Fields) => void;
}

type Fields = Record<string, unknown>;

/**
 * Creates the parser of an operation. Its schema is compiled at the first request, since compiling all schemas would
 * slow down the start.
 */
function createParser<T>(schema: object, steps: ParserSteps = {}): RequestParser<T> {
  let validate: ValidateFunction | undefined;
  const names = schemaNames(schema);
  return (params) => {
    if (!isJsonObject(params)) throw invalidParams({ field: 'params', description: 'must be an object' });
    const unfit = unfitJson(params);
    if (unfit) throw invalidParams(unfit);
    toJsonNames(params, names);
    const oversized = steps.before?.(params);
    if (oversized) throw invalidParams(oversized);
    validate ??= ajv.compile(schema);
    const valid = validate(params) || (respellValues(params, validate.errors ?? []) && validate(params));
    if (!valid) throw invalidParams(...fieldViolations(validate.errors ?? []));
    (steps.after ?? dropEmpty)(params);
    return params as T;
  };
}

function hasExactlyOne(names: readonly string[], value: Fields): boolean {
  let present = 0;
  for (const name of names) {
    // `data` is a google.protobuf.Value, of which null is one; for the others null means absent.
    const field = value[name];
    if (name === 'data' ? field !== undefined : field !== undefined && field !== null) present++;
  }
  return present === 1;
}

const LISTS = [
  ['message', 'parts'],
  ['message', 'extensions'],
  ['message', 'referenceTaskIds'],
  ['configuration', 'acceptedOutputModes'],
] as const;

function oversizedList(params: Fields): FieldViolation | undefined {
  for (const [holder, name] of LISTS) {
    const list = (params[holder] as Fields | null | undefined)?.[name];
    if (Array.isArray(list) && list.length > MAX_LIST_LENGTH) {
      return { field: `${holder}.${name}`, description: `must have at most ${MAX_LIST_LENGTH} entries` };
    }
  }
  return undefined;
}

function normalizeSendMessage(request: Fields): void {
  const message = request.message as Fields;
  dropEmpty(request);
  dropEmpty(message);
  if (request.configuration) normalizeConfiguration(request.configuration as Fields);
  for (const part of message.parts as Fields[]) {
    dropNull(part);
    if (typeof part.raw === 'string') part.raw = standardBase64(part.raw);
  }
}

function normalizeConfiguration(configuration: Fields): void {
  dropEmpty(configuration);
  if (configuration.taskPushNotificationConfig) {
    normalizePushConfig(configuration.taskPushNotificationConfig as Fields);
  }
}

function normalizePushConfig(config: Fields): void {
  dropEmpty(config);
  if (config.authentication) dropEmpty(config.authentication as Fields);
}

function normalizeListTasks(request: Fields): void {
  dropEmpty(request);
  if (request.status === 'TASK_STATE_UNSPECIFIED') request.status = undefined;
}

/** Sets members that are `null` or `''` to `undefined`: both mean absent in ProtoJSON and proto3. */
function dropEmpty(fields: Fields): void {
  for (const name in fields) {
    if (fields[name] === null || fields[name] === '') fields[name] = undefined;
  }
}

/**
 * Sets members of a Part that are `null` to `undefined`, except `data`, whose value may be `null`. An empty text is
 * kept.
 */
function dropNull(part: Fields): void {
  for (const name in part) {
    if (part[name] === null && name !== 'data') part[name] = undefined;
  }
}

interface Schema {
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
}

/**
 * Returns the names in `a2a.proto` of the members of a request schema. An object without properties is free-form and
 * has no such names.
 */
function schemaNames({ properties = {} }: Schema): ProtoNames {
  const below = Object.entries(properties).flatMap(([name, member]): [string, ProtoNames][] => {
    const message = member.items ?? member;
    return message.properties ? [[name, schemaNames(message)]] : [];
  });
  return protoNames(
    Object.keys(properties).filter((name) => protoName(name) !== name),
    Object.fromEntries(below.filter(([, names]) => names.members.length + names.below.length > 0)),
  );
}
