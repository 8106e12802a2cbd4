import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue, Message, Part, SendMessageResponse, StreamResponse, Task } from '#libs/protocol';
import { SseReader } from './sse.js';

export const VERSION = { 'a2a-version': '1.0' };

export interface RpcError {
  code: number;
  message: string;
  data?: JsonObject[];
}

export interface RpcReply<T = unknown> {
  status: number;
  headers: Headers;
  body: { jsonrpc?: string; id?: JsonValue; result?: T; error?: RpcError };
}

export interface RestReply<T = unknown> {
  status: number;
  headers: Headers;
  body: T & { error?: { code: number; status: string; message: string; details?: JsonObject[] } };
}

/**
 * Calls a JSON-RPC method without any client library. `body` replaces the whole request; a string is sent unchanged.
 */
export async function rpc<T = unknown>(
  base: string,
  method: string,
  params?: unknown,
  options: { headers?: Record<string, string>; id?: JsonValue; body?: unknown; query?: string } = {},
): Promise<RpcReply<T>> {
  const envelope =
    'body' in options
      ? options.body
      : {
          jsonrpc: '2.0',
          id: options.id === undefined ? 1 : options.id,
          method,
          ...(params !== undefined && { params }),
        };
  const response = await fetch(`${base}${options.query ?? ''}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...VERSION, ...options.headers },
    body: typeof envelope === 'string' ? envelope : JSON.stringify(envelope),
  });
  return { status: response.status, headers: response.headers, body: parsed(await response.text()) };
}

/** Makes a REST call below an agent's base URL. */
export async function rest<T = JsonObject>(
  base: string,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<RestReply<T>> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...VERSION,
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body !== undefined && {
      body: typeof options.body === 'string' ? options.body : JSON.stringify(options.body),
    }),
  });
  return { status: response.status, headers: response.headers, body: parsed(await response.text()) };
}

/** Creates a user Message. A string becomes one text Part. */
export function message(content: string | Part[], fields: Partial<Message> = {}): Message {
  const parts = typeof content === 'string' ? [{ text: content }] : content;
  return { messageId: randomUUID(), role: 'ROLE_USER', parts, ...fields };
}

export interface SendOptions {
  fields?: Partial<Message>;
  configuration?: JsonObject;
  metadata?: JsonObject;
  headers?: Record<string, string>;
}

/** Sends a Message by SendMessage over JSON-RPC, and returns the Task. Throws on an error or a direct Message. */
export async function sendTask(base: string, content: string | Part[], options: SendOptions = {}): Promise<Task> {
  const reply = await send(base, content, options);
  if (!('task' in reply)) throw new Error(`Expected a Task from ${base}, got ${JSON.stringify(reply)}`);
  return reply.task;
}

/** Sends a Message by SendMessage over JSON-RPC, and returns the result. Throws on an error. */
export async function send(
  base: string,
  content: string | Part[],
  options: SendOptions = {},
): Promise<SendMessageResponse> {
  const { body } = await rpc<SendMessageResponse>(base, 'SendMessage', sendParams(content, options), {
    headers: options.headers,
  });
  if (body.result === undefined) throw new Error(`SendMessage to ${base} failed: ${JSON.stringify(body)}`);
  return body.result;
}

/** Opens SendStreamingMessage over JSON-RPC. The data of each frame is a JSON-RPC response with one StreamResponse. */
export function stream(
  base: string,
  content: string | Part[],
  options: SendOptions = {},
): Promise<SseReader<RpcReply<StreamResponse>['body']>> {
  return openRpcStream(base, 'SendStreamingMessage', sendParams(content, options), options.headers);
}

/** Opens SubscribeToTask over JSON-RPC. */
export function subscribe(
  base: string,
  id: string,
  lastEventId?: string | number,
): Promise<SseReader<RpcReply<StreamResponse>['body']>> {
  return openRpcStream(
    base,
    'SubscribeToTask',
    { id },
    lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) },
  );
}

export async function getTask(base: string, id: string, fields: JsonObject = {}): Promise<Task> {
  const { body } = await rpc<Task>(base, 'GetTask', { id, ...fields });
  if (body.result === undefined) throw new Error(`GetTask ${id} at ${base} failed: ${JSON.stringify(body)}`);
  return body.result;
}

export function sendParams(content: string | Part[], options: SendOptions = {}): JsonObject {
  return {
    message: message(content, options.fields) as unknown as JsonObject,
    ...(options.configuration !== undefined && { configuration: options.configuration }),
    ...(options.metadata !== undefined && { metadata: options.metadata }),
  };
}

/** Returns the kind and the content of a stream event as one text, for comparisons of whole sequences. */
export function outline(event: StreamResponse | undefined): string {
  if (event === undefined) return 'nothing';
  if ('task' in event) return `task ${event.task.status.state}`;
  if ('message' in event) return 'message';
  if ('statusUpdate' in event) return `status ${event.statusUpdate.status.state}`;
  return `artifact ${event.artifactUpdate.artifact.parts.map((part) => part.text ?? JSON.stringify(part.data)).join('|')}`;
}

/** Returns the `google.rpc` detail of a type from the error details of any binding. */
export function detail(details: JsonObject[] | undefined, type: 'ErrorInfo' | 'BadRequest'): JsonObject | undefined {
  return details?.find((it) => it['@type'] === `type.googleapis.com/google.rpc.${type}`);
}

/** Returns the names of the fields that a BadRequest detail reports as invalid. */
export function blamedFields(details: JsonObject[] | undefined): string[] {
  const violations = detail(details, 'BadRequest')?.fieldViolations as { field: string }[] | undefined;
  return violations?.map(({ field }) => field) ?? [];
}

export function firstText(task: Task, artifact = 0): string | undefined {
  return task.artifacts?.[artifact]?.parts.find((part) => part.text !== undefined)?.text;
}

function openRpcStream(
  base: string,
  method: string,
  params: JsonObject,
  headers: Record<string, string> = {},
): Promise<SseReader<RpcReply<StreamResponse>['body']>> {
  return SseReader.open(base, {
    method: 'POST',
    headers: { ...VERSION, ...headers },
    body: { jsonrpc: '2.0', id: 1, method, params },
  });
}

function parsed<T>(text: string): T {
  if (text === '') return {} as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    return { unparsed: text } as T;
  }
}
