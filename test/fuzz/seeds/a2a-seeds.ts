import type { JsonObject, JsonValue } from '#libs/protocol';
import type { Seed } from '../fuzz-case.js';

const PARTS: JsonValue[] = [
  { text: 'hi {{in}}', mediaType: 'text/plain', metadata: { a: 1 } },
  { data: { in: 'x', list: [1, 'two', null, { three: 3 }] } },
  { raw: 'aGVsbG8=', filename: 'a.txt', mediaType: 'text/plain' },
  { url: 'https://example.com/a.txt', mediaType: 'text/plain' },
];
const MESSAGE: JsonObject = {
  messageId: 'message-1',
  role: 'ROLE_USER',
  parts: PARTS,
  metadata: { skillId: '{{workflow}}', nested: { a: [1] } },
  extensions: ['https://example.com/extension/v1'],
  referenceTaskIds: ['{{ended}}'],
};
const CONFIGURATION: JsonObject = {
  acceptedOutputModes: ['text/plain', 'application/json'],
  historyLength: 3,
  returnImmediately: false,
  taskPushNotificationConfig: {
    id: 'inline',
    url: '{{hook}}',
    token: 'token',
    authentication: { scheme: 'Bearer', credentials: 'secret' },
  },
};
const SEND: JsonObject = { message: MESSAGE, configuration: CONFIGURATION, metadata: { a: 'b' } };
const FOLLOW: JsonObject = { message: { ...MESSAGE, taskId: '{{task}}', contextId: '{{context}}' } };
const PUSH: JsonObject = {
  taskId: '{{task}}',
  id: 'c',
  url: '{{hook}}',
  token: 'token',
  authentication: { scheme: 'Bearer', credentials: 'secret' },
};
const LIST: JsonObject = {
  contextId: '{{context}}',
  status: 'TASK_STATE_COMPLETED',
  pageSize: 5,
  pageToken: '',
  historyLength: 1,
  statusTimestampAfter: '2020-01-01T00:00:00.000Z',
  includeArtifacts: true,
};
const CONFIG_NAME = { taskId: '{{task}}', id: 'c' };

const OPERATIONS: [name: string, params: JsonObject][] = [
  ['SendMessage', SEND],
  ['SendMessage', FOLLOW],
  ['SendStreamingMessage', SEND],
  ['SendStreamingMessage', FOLLOW],
  ['GetTask', { id: '{{ended}}', historyLength: 2 }],
  ['ListTasks', LIST],
  ['CancelTask', { id: '{{task}}', metadata: { why: 'x' } }],
  ['SubscribeToTask', { id: '{{task}}' }],
  ['CreateTaskPushNotificationConfig', PUSH],
  ['GetTaskPushNotificationConfig', CONFIG_NAME],
  ['ListTaskPushNotificationConfigs', { taskId: '{{task}}', pageSize: 2, pageToken: '' }],
  ['DeleteTaskPushNotificationConfig', CONFIG_NAME],
  ['GetExtendedAgentCard', {}],
];

const BASES = [
  '/a2a',
  '/a2a/workflows/{{workflow}}/nodes/echo',
  '/a2a/workflows/{{workflow}}/nodes/asks',
  '/a2a/workflows/{{workflow}}/nodes/parts',
  '/a2a/workflows/{{workflow}}/nodes/direct',
  '/a2a/workflows/{{workflow}}/nodes/moment',
  '/a2a/workflows/{{runnable}}',
  '/a2a/nodes/fails',
  '/a2a/conversations',
];
/** Base URLs at which Tasks can be read. */
const TASK_BASES = BASES.slice(0, 3);
const basesOf = (what: string): string[] => (/\{\{(task|ended)/.test(what) ? TASK_BASES : BASES);
const V1 = { 'a2a-version': '1.0', 'content-type': 'application/json' };
const V0_3 = { 'content-type': 'application/json' };

const rpc = (name: string, headers: Record<string, string>, method: string, params: JsonObject): Seed[] =>
  basesOf(JSON.stringify(params)).map((path) => ({
    endpoint: `${name} ${method}`,
    transport: 'http',
    method: 'POST',
    path,
    headers,
    body: { jsonrpc: '2.0', id: 'r1', method, params },
  }));

type Route = [method: string, path: string, body?: JsonObject];

const REST: Route[] = [
  ['POST', '/message:send', SEND],
  ['POST', '/message:stream', SEND],
  ['POST', '/message:send', FOLLOW],
  ['GET', '/tasks/{{ended}}?historyLength=2'],
  ['GET', '/tasks?pageSize=5&status=TASK_STATE_COMPLETED&includeArtifacts=true'],
  ['POST', '/tasks/{{task}}:cancel', { metadata: {} }],
  ['GET', '/tasks/{{task}}:subscribe'],
  ['POST', '/tasks/{{task}}:subscribe', {}],
  ['POST', '/tasks/{{task}}/pushNotificationConfigs', PUSH],
  ['GET', '/tasks/{{task}}/pushNotificationConfigs'],
  ['GET', '/tasks/{{task}}/pushNotificationConfigs/c'],
  ['DELETE', '/tasks/{{task}}/pushNotificationConfigs/c'],
  ['GET', '/extendedAgentCard'],
  ['POST', '/send-message', { message: 'hi', taskId: '{{task}}' }],
];

const LEGACY_MESSAGE: JsonObject = {
  kind: 'message',
  messageId: 'message-1',
  role: 'user',
  parts: [
    { kind: 'text', text: 'hi' },
    { kind: 'data', data: { a: 1 } },
    { kind: 'file', file: { bytes: 'aGk=', mimeType: 'text/plain', name: 'a.txt' } },
    { kind: 'file', file: { uri: 'https://example.com/a', mimeType: 'text/plain' } },
  ],
  metadata: { a: 1 },
};
const LEGACY_CONFIG: JsonObject = {
  id: 'c',
  url: '{{hook}}',
  token: 'token',
  authentication: { schemes: ['Bearer'], credentials: 'secret' },
};
const LEGACY_SEND: JsonObject = {
  message: LEGACY_MESSAGE,
  configuration: {
    blocking: true,
    historyLength: 2,
    acceptedOutputModes: ['text/plain'],
    pushNotificationConfig: LEGACY_CONFIG,
  },
  metadata: {},
};
const LEGACY: [method: string, params: JsonObject][] = [
  ['message/send', LEGACY_SEND],
  ['message/stream', LEGACY_SEND],
  ['message/send', { message: { ...LEGACY_MESSAGE, taskId: '{{task}}' } }],
  ['tasks/get', { id: '{{ended}}', historyLength: 1 }],
  ['tasks/cancel', { id: '{{task}}' }],
  ['tasks/resubscribe', { id: '{{task}}' }],
  ['tasks/pushNotificationConfig/set', { taskId: '{{task}}', pushNotificationConfig: LEGACY_CONFIG }],
  ['tasks/pushNotificationConfig/get', { id: '{{task}}', pushNotificationConfigId: 'c' }],
  ['tasks/pushNotificationConfig/list', { id: '{{task}}' }],
  ['tasks/pushNotificationConfig/delete', { id: '{{task}}', pushNotificationConfigId: 'c' }],
  ['agent/getAuthenticatedExtendedCard', {}],
];
const LEGACY_REST_SEND: JsonObject = {
  request: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'hi' }, { data: { data: { a: 1 } } }] },
  configuration: { blocking: true },
};
const LEGACY_REST: Route[] = [
  ['POST', '/v1/message:send', LEGACY_REST_SEND],
  ['POST', '/v1/message:stream', LEGACY_REST_SEND],
  ['GET', '/v1/tasks/{{ended}}'],
  ['GET', '/v1/tasks'],
  ['POST', '/v1/tasks/{{task}}:cancel', {}],
  ['GET', '/v1/tasks/{{task}}:subscribe'],
  [
    'POST',
    '/v1/tasks/{{task}}/pushNotificationConfigs',
    { config: { name: 'c', pushNotificationConfig: LEGACY_CONFIG } },
  ],
  ['GET', '/v1/tasks/{{task}}/pushNotificationConfigs'],
  ['GET', '/v1/tasks/{{task}}/pushNotificationConfigs/c'],
  ['DELETE', '/v1/tasks/{{task}}/pushNotificationConfigs/c'],
  ['GET', '/v1/card'],
];

const rest = (name: string, routes: Route[], headers: Record<string, string>): Seed[] =>
  routes.flatMap(([method, path, body]) =>
    basesOf(path).map((base): Seed => {
      const endpoint = `${name} ${method} ${path.replaceAll(/\{\{\w+\}\}/g, '{id}').replace(/\?.*/, '')}`;
      return { endpoint, transport: 'http', method, path: `${base}${path}`, headers, ...(body && { body }) };
    }),
  );

/** Creates seeds of a gRPC operation. The `tenant` of a request is the agent's path. */
const grpc = (operation: string, params: JsonObject): Seed[] =>
  basesOf(JSON.stringify(params)).map((base) => ({
    endpoint: `gRPC ${operation}`,
    transport: 'grpc',
    method: operation,
    path: base,
    headers: { 'a2a-version': '1.0' },
    body: { ...params, tenant: base.replace(/^\/a2a\/?/, '') },
  }));

/** Seeds of every operation of A2A, in both versions and all bindings. */
export const A2A_SEEDS: readonly Seed[] = [
  ...OPERATIONS.flatMap(([method, params]) => rpc('JSON-RPC', V1, method, params)),
  ...LEGACY.flatMap(([method, params]) => rpc('JSON-RPC 0.3', V0_3, method, params)),
  ...rpc('JSON-RPC', V0_3, 'a2a.sendMessage', FOLLOW),
  ...rest('REST', REST, V1),
  ...rest('REST 0.3', LEGACY_REST, V0_3),
  ...OPERATIONS.flatMap(([operation, params]) => grpc(operation, params)),
];
