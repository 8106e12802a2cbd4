import { randomUUID } from 'node:crypto';
import type { JsonObject } from '#libs/protocol';
import { rest, rpc, sendParams } from './a2a.js';
import type { GrpcWire } from './grpc-wire.js';
import { mcp, post } from './mcp.js';
import type { ApiRoute } from './stranger-routes.js';
import type { Headers } from './wire-binding.js';
import { Api } from './workflow.js';

/** Request about an id at an agent's base URL, as a test sends it. */
export interface Ask {
  name: string;
  /** Pattern of the answer to an unknown id, if it is not the usual "not found". */
  elsewhere?: RegExp;
  ask(base: string, id: string): Promise<Told>;
}

/** Received answer: `body` if it is JSON, else `text`. */
export interface Told {
  status: number;
  headers: Iterable<[string, string]>;
  body?: unknown;
  text?: string;
}

/** Returns an answer without the parts that identify the request: the requested id, the request id, and dates. */
export function told(reply: Told, id: string): unknown {
  const body = (reply.text ?? JSON.stringify(reply.body)).replace(/"requestId":"[0-9a-f-]{36}"/, '"requestId":""');
  const { date: _date, ...headers } = Object.fromEntries(reply.headers) as Record<string, string>;
  return { status: reply.status, body: body.replaceAll(id, '{id}'), headers };
}

/** True if an answer reports an internal error of the service, in any binding. */
export function isFault({ status, body, text }: Told): boolean {
  return status >= 500 || GRPC_FAULTS.has(status) || /"code":-32603\b/.test(text ?? JSON.stringify(body));
}

/**
 * True if an answer reports that the object does not exist. Strangers may get no other answer, not even a denied
 * permission.
 */
export function isUnknown({ status, body, text }: Told): boolean {
  return UNKNOWN.has(status) || /"code":-32001\b/.test(text ?? JSON.stringify(body));
}

/** True if an answer is the expected one for an unknown id. */
export function isDenial({ elsewhere }: Ask, answer: Told): boolean {
  const { body, text } = answer;
  return isUnknown(answer) || (elsewhere?.test(text ?? JSON.stringify(body)) ?? false);
}

/** gRPC statuses of internal errors: UNKNOWN, INTERNAL, UNAVAILABLE, DATA_LOSS. */
const GRPC_FAULTS: ReadonlySet<number> = new Set([2, 13, 14, 15]);
/** Statuses of unknown objects: HTTP 404, and gRPC NOT_FOUND. */
const UNKNOWN: ReadonlySet<number> = new Set([404, 5]);

/** Returns an id of the same form that does not exist. */
export function nobodys(id: string): string {
  return [...id]
    .map((it, index) => (/[0-9a-f]/.test(it) && index > id.length - 8 ? (it === 'f' ? '0' : 'f') : it))
    .join('');
}

const MESSAGE_ID = randomUUID();
const follow = (id: string) => sendParams('mine now', { fields: { taskId: id, messageId: MESSAGE_ID } });
const push = (id: string) => ({ taskId: id, id: 'c', url: 'https://example.com/hook' });
const of = (id: string) => ({ id });
const configOf = (id: string) => ({ taskId: id, id: 'c' });
const RESUMED = { 'last-event-id': '1' };
const nothing = () => ({});

type Params = (id: string) => Record<string, unknown>;

/** Operations of A2A 1.0 that take the id of a Task. */
const OPERATIONS: [name: string, params: Params, headers?: Headers][] = [
  ['GetTask', of],
  ['CancelTask', of],
  ['SubscribeToTask', of],
  ['SubscribeToTask', of, RESUMED],
  ['SendMessage', follow],
  ['SendMessage', follow, { 'idempotency-key': 'k' }],
  ['SendStreamingMessage', follow],
  ['CreateTaskPushNotificationConfig', push],
  ['GetTaskPushNotificationConfig', configOf],
  ['ListTaskPushNotificationConfigs', (id) => ({ taskId: id })],
  ['DeleteTaskPushNotificationConfig', configOf],
];

/** Returns requests for an id over JSON-RPC of 1.0, including the method of the pre-1.0 dialect. */
export function jsonRpcAsks(who: () => Headers): Ask[] {
  const founding: (typeof OPERATIONS)[number] = ['a2a.sendMessage', follow];
  return [...OPERATIONS, founding].map(([method, params, headers]) => ({
    name: `JSON-RPC ${method}${headers ? `, with ${Object.keys(headers).join()}` : ''}`,
    ask: (base, id) => rpc(base, method, params(id), { headers: { ...who(), ...headers } }),
  }));
}

type RestRoute = [method: string, path: (id: string) => string, body?: Params, headers?: Headers];

const REST: RestRoute[] = [
  ['GET', (id) => `/tasks/${id}`],
  ['POST', (id) => `/tasks/${id}:cancel`, nothing],
  ['GET', (id) => `/tasks/${id}:subscribe`],
  ['POST', (id) => `/tasks/${id}:subscribe`, nothing],
  ['GET', (id) => `/tasks/${id}:subscribe`, undefined, RESUMED],
  ['POST', () => '/message:send', follow],
  ['POST', () => '/message:stream', follow],
  ['POST', () => '/send-message', (id) => ({ message: 'mine now', taskId: id })],
  ['POST', (id) => `/tasks/${id}/pushNotificationConfigs`, push],
  ['GET', (id) => `/tasks/${id}/pushNotificationConfigs`],
  ['GET', (id) => `/tasks/${id}/pushNotificationConfigs/c`],
  ['DELETE', (id) => `/tasks/${id}/pushNotificationConfigs/c`],
];

/** Returns requests for an id over REST of 1.0, including `/send-message`. */
export function restAsks(who: () => Headers): Ask[] {
  return restOf('REST', REST, who);
}

const legacyMessage = (id: string) => ({
  message: {
    kind: 'message',
    messageId: MESSAGE_ID,
    role: 'user',
    taskId: id,
    parts: [{ kind: 'text', text: 'mine' }],
  },
});
const legacyRestMessage = (id: string) => ({
  message: { messageId: MESSAGE_ID, role: 'ROLE_USER', taskId: id, content: [{ text: 'mine' }] },
});
const legacyConfig = { id: 'c', url: 'https://example.com/hook' };
const legacyPush = (id: string) => ({ taskId: id, pushNotificationConfig: legacyConfig });

const LEGACY: [method: string, params: Params, headers?: Headers][] = [
  ['tasks/get', of],
  ['tasks/cancel', of],
  ['tasks/resubscribe', of],
  ['tasks/resubscribe', of, RESUMED],
  ['message/send', legacyMessage],
  ['message/stream', legacyMessage],
  ['tasks/pushNotificationConfig/set', legacyPush],
  ['tasks/pushNotificationConfig/get', (id) => ({ id, pushNotificationConfigId: 'c' })],
  ['tasks/pushNotificationConfig/list', of],
  ['tasks/pushNotificationConfig/delete', (id) => ({ id, pushNotificationConfigId: 'c' })],
];

const LEGACY_REST: RestRoute[] = [
  ['GET', (id) => `/v1/tasks/${id}`],
  ['POST', (id) => `/v1/tasks/${id}:cancel`, nothing],
  ['GET', (id) => `/v1/tasks/${id}:subscribe`],
  ['GET', (id) => `/v1/tasks/${id}:subscribe`, undefined, RESUMED],
  ['POST', () => '/v1/message:send', legacyRestMessage],
  ['POST', () => '/v1/message:stream', legacyRestMessage],
  [
    'POST',
    (id) => `/v1/tasks/${id}/pushNotificationConfigs`,
    () => ({ config: { name: 'c', pushNotificationConfig: legacyConfig } }),
  ],
  ['GET', (id) => `/v1/tasks/${id}/pushNotificationConfigs`],
  ['GET', (id) => `/v1/tasks/${id}/pushNotificationConfigs/c`],
  ['DELETE', (id) => `/v1/tasks/${id}/pushNotificationConfigs/c`],
];

const V0_3 = { 'a2a-version': '0.3' };

/** Returns requests for an id over both bindings of A2A 0.3. */
export function legacyAsks(who: () => Headers): Ask[] {
  const calls = LEGACY.map(([method, params, headers]): Ask => ({
    name: `0.3 ${method}${headers ? ', resumed' : ''}`,
    ask: (base, id) => rpc(base, method, params(id), { headers: { ...who(), ...V0_3, ...headers } }),
  }));
  return [...calls, ...restOf('0.3', LEGACY_REST, () => ({ ...who(), ...V0_3 }))];
}

/** Pattern of MCP's error for an unknown Task or tool. */
const NO_TASK = /"code":-32602,"message":"(Task|workflow .+) not found/;
const ACCEPTED = { action: 'accept', content: { answer: 'mine now' } };

/** Returns requests for an id over MCP; the base is the endpoint. @param tool name of a workflow */
export function mcpAsks(who: () => Headers, tool: () => string): Ask[] {
  const calls: [method: string, params: (id: string) => JsonObject][] = [
    ['tasks/get', (taskId) => ({ taskId })],
    ['tasks/update', (taskId) => ({ taskId, inputResponses: { 'q@1': ACCEPTED } })],
    ['tasks/cancel', (taskId) => ({ taskId })],
    ['tools/call', (id) => ({ name: tool(), requestState: id, inputResponses: { 'q@1': ACCEPTED } })],
  ];
  const asks = calls.map(([method, params]): Ask => ({
    name: `MCP ${method}`,
    elsewhere: NO_TASK,
    ask: (url, id) => mcp(url, method, params(id), { headers: who() }),
  }));
  const answer = (id: string) => ({ jsonrpc: '2.0', id: `parley:${id}:q@1`, result: ACCEPTED });
  return [
    ...asks,
    { name: 'an answer in MCP 2025-11-25', elsewhere: NO_TASK, ask: (url, id) => post(url, answer(id), who()) },
  ];
}

/** Returns requests for an id over gRPC; the base is an agent's path, or `''`. */
export function grpcAsks(wire: GrpcWire, who: () => Headers): Ask[] {
  return OPERATIONS.map(([operation, params, headers]) => ({
    name: `gRPC ${operation}${headers ? `, with ${Object.keys(headers).join()}` : ''}`,
    ask: async (path, id) => {
      const { code, ...rest } = await wire.refusal(path, operation, params(id) as never, { ...who(), ...headers });
      return { status: code, headers: [], text: JSON.stringify(rest) };
    },
  }));
}

/** Returns requests to `/api` with an id in their path; the base is the service's URL. */
export function apiAsks(who: () => Headers, routes: readonly ApiRoute[]): Ask[] {
  return routes.map(([method, path, body, headers]) => ({
    name: `${method} /api${path}`,
    // A filter of a list.
    ...(path.includes('={id}') && { elsewhere: /^\{"\w+":\[\],"nextPageToken":""\}$/ }),
    ...(headers && { elsewhere: /"reason":"PRECONDITION_FAILED"/ }),
    ask: (base, id) => new Api(base, who()).call(method, path.replace('{id}', id), body?.(id), headers),
  }));
}

function restOf(name: string, routes: RestRoute[], who: () => Headers): Ask[] {
  return routes.map(([method, path, body, headers]) => ({
    name: `${name} ${method} ${path('{id}')}${headers ? ', resumed' : ''}`,
    ask: (base, id) =>
      rest(base, method, path(id), { headers: { ...who(), ...headers }, ...(body && { body: body(id) }) }),
  }));
}
