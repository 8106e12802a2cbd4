import { isNativeError } from 'node:util/types';
import {
  OutboundConnectError,
  OutboundRefusedError,
  OutboundTimeoutError,
  OutboundTooLongError,
  requestedPause,
} from '#libs/outbound';
import {
  A2A_ERRORS,
  A2AError,
  type A2AErrorReason,
  InvalidProtocolValue,
  isJsonObject,
  type JsonObject,
  NO_USERINFO,
} from '#libs/protocol';
import { TooManyAnswers } from '#libs/service';
import { AgentCallError } from './agent-call-error.js';

/** What went wrong between here and the agent, as an AgentCallError. What came with a type of its own keeps it. */
export function toAgentCallError(error: unknown): AgentCallError {
  if (error instanceof AgentCallError) return error;
  if (error instanceof A2AError) return rpcFailure(error.code, error.message, error);
  return sdkFailure(error) ?? (causesOf(error).some(isNetworkError) ? networkFailure(error) : notA2A(error));
}

/**
 * An error that the agent answered with: `a2a error <code>: <message>`.
 * @param data what the agent wrote beside the message
 */
export function rpcFailure(code: number, message: string, cause?: unknown, data?: unknown): AgentCallError {
  const kind = code === A2A_ERRORS.TASK_NOT_FOUND.code ? 'not-found' : 'rpc-error';
  return new AgentCallError(kind, `a2a error ${code}: ${message}`, { code, cause, data });
}

/** The JSON-RPC code of a `google.rpc.ErrorInfo` reason. */
function codeOfReason(reason: unknown): number | undefined {
  return typeof reason === 'string' && Object.hasOwn(A2A_ERRORS, reason)
    ? A2A_ERRORS[reason as A2AErrorReason].code
    : undefined;
}

/** What a `fetch`, or the body that it gave, failed with. Only the system's error code is told, no address of ours. */
export function networkFailure(error: unknown): AgentCallError {
  if (error instanceof AgentCallError) return error;
  const causes = causesOf(error);
  const refusal = causes.find((it) => it instanceof OutboundRefusedError);
  if (refusal) {
    const text = refusal.refusal === 'userinfo' ? `the URL ${NO_USERINFO}` : 'the address may not be called';
    return new AgentCallError('refused', text, { cause: error });
  }
  const timeout = causes.find((it) => it instanceof OutboundTimeoutError);
  if (timeout) {
    const text = timeout.phase === 'connect' ? 'not connected in time' : 'no answer in time';
    return new AgentCallError('timeout', `timeout: ${text}`, { cause: error });
  }
  const tooMany = causes.find((it) => it instanceof TooManyAnswers);
  if (tooMany) return new AgentCallError('overloaded', tooMany.message, { cause: error });
  const tooLong = causes.find((it) => it instanceof OutboundTooLongError);
  if (tooLong) {
    const text = `the answer is longer than ${tooLong.maxBytes} bytes`;
    return new AgentCallError('invalid-response', text, { cause: error });
  }
  const code = causes.map(codeOf).findLast((it) => it !== undefined);
  const unsent = code === 'ECONNREFUSED';
  return new AgentCallError('connect', `no connection (${code ?? 'network error'})`, { cause: error, unsent });
}

/** True if a call failed before it had a connection: nothing was sent. */
export function isUnconnected({ unsent, cause }: AgentCallError): boolean {
  return unsent || causesOf(cause).some(isConnectFailure);
}

function isConnectFailure(error: Error): boolean {
  return error instanceof OutboundTimeoutError ? error.phase === 'connect' : error instanceof OutboundConnectError;
}

function isNetworkError(error: Error): boolean {
  return error.name.startsWith('Outbound') || /^(UND_ERR_|E[A-Z]+$)/.test(codeOf(error) ?? '');
}

function codeOf(error: Error): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : undefined;
}

/** The SDK's error types differ between its bundles; their members do not. */
function sdkFailure(error: unknown): AgentCallError | undefined {
  for (const cause of causesOf(error)) {
    if (cause instanceof AgentCallError) return cause;
    if ('envelopeCode' in cause && typeof cause.envelopeCode === 'number') {
      return rpcFailure(cause.envelopeCode, cause.message, error);
    }
    if ('transport' in cause && cause.transport === 'rest') {
      const code = codeOfReason(reasonOfName(cause.name)) ?? A2A_ERRORS.INTERNAL.code;
      return rpcFailure(code, cause.message, error);
    }
  }
  return undefined;
}

/** `TaskNotFoundError` is the reason `TASK_NOT_FOUND`. */
function reasonOfName(name: string): string {
  return name
    .replace(/Error$/, '')
    .replace(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toUpperCase();
}

function notA2A(error: unknown): AgentCallError {
  const detail = error instanceof InvalidProtocolValue ? `: ${error.message}` : '';
  return new AgentCallError('invalid-response', `the agent's answer is not A2A${detail}`, { cause: error });
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let it = error; isError(it) && causes.length < 8; it = it.cause) causes.push(it);
  return causes;
}

/** Those of the network come from another realm where this code runs in a context of its own. */
function isError(value: unknown): value is Error {
  return value instanceof Error || isNativeError(value);
}

/** Facts about a call that was answered with an HTTP status other than 2xx. */
export interface RefusedCall {
  /** The header of that name. */
  retryAfter?: string | undefined;
  /** Bytes of the request's body. */
  sentBytes?: number | undefined;
}

/** The failure that an HTTP status other than 2xx stands for; a 4xx may tell more in its body. */
export function statusFailure(status: number, body: string, call: RefusedCall = {}): AgentCallError {
  const answered = { status, retryAfter: requestedPause(call.retryAfter) };
  if (status >= 500) return new AgentCallError('server-error', `HTTP ${status}`, { code: status, ...answered });
  const json = parsed(body);
  const reported = errorOf(json) ?? wordsOf(json, status);
  if (status === 401 || status === 403) return refusal(status, reported);
  if (status === 413)
    return new AgentCallError('client-error', tooLarge(call, reported), { code: status, ...answered });
  if (reported === undefined)
    return new AgentCallError('client-error', `HTTP ${status}`, { code: status, ...answered });
  const { kind, message, code, cause } = reported;
  return new AgentCallError(kind, message, { code, cause, ...answered });
}

function tooLarge({ sentBytes }: RefusedCall, reported: AgentCallError | undefined): string {
  const size = sentBytes === undefined ? '' : ` of ${sentBytes} bytes`;
  return `HTTP 413: the Message${size} is larger than the agent takes${reported ? `: ${reported.message}` : ''}`;
}

/** 401: the agent wants to know who calls; 403: it knows, and forbids it (A2A 1.0, section 7.4). */
function refusal(status: 401 | 403, reported: AgentCallError | undefined): AgentCallError {
  const text = status === 401 ? 'the agent does not accept who calls' : 'the agent forbids the call';
  const detail = reported ? `: ${reported.message}` : '';
  return new AgentCallError('unauthorized', `HTTP ${status}: ${text}${detail}`, { code: status });
}

/**
 * The error that a body tells in one of the forms of A2A: of a JSON-RPC response; a `google.rpc.Status`, as the REST binding
 * writes it (section 11.6); a problem of RFC 9457; or a code of JSON-RPC at the top, as servers of 0.3 write it over REST.
 */
export function errorOf(body: JsonObject | undefined): AgentCallError | undefined {
  if (body === undefined) return undefined;
  const error = isJsonObject(body.error) ? body.error : 'jsonrpc' in body ? undefined : body;
  if (error === undefined) return undefined;
  const { code, details, type } = error;
  const text = errorText(body);
  if ('jsonrpc' in body) return rpcFailure(Number(code), text, undefined, error.data);
  const reasons = Array.isArray(details) ? details.filter(isJsonObject).map((it) => it.reason) : [];
  const known = [...reasons, reasonOfType(type)].map(codeOfReason).find((it) => it !== undefined);
  if (known !== undefined) return rpcFailure(known, text);
  return isRpcCode(code) ? rpcFailure(code, text) : undefined;
}

/** Returns the text that a body gives for an error. */
export function errorText(body: JsonObject): string {
  const { message, detail, title } = isJsonObject(body.error) ? body.error : body;
  return [message, detail, title].find((it) => typeof it === 'string') ?? 'no message';
}

/** The range that JSON-RPC 2.0 keeps for itself and for servers, which A2A lies in. */
function isRpcCode(code: unknown): code is number {
  return typeof code === 'number' && code >= -32_768 && code <= -32_000;
}

/** `https://a2a-protocol.org/errors/task-not-found` is the reason `TASK_NOT_FOUND`. */
function reasonOfType(type: unknown): string | undefined {
  const [, name] = typeof type === 'string' ? (/\/errors\/([a-z-]+)$/.exec(type) ?? []) : [];
  return name?.replaceAll('-', '_').toUpperCase();
}

/** The statuses by which servers that write nothing but a message tell an error of A2A 0.3 over REST. */
const LEGACY_STATUSES: ReadonlyMap<number, number> = new Map([
  [400, A2A_ERRORS.INVALID_PARAMS.code],
  [404, A2A_ERRORS.TASK_NOT_FOUND.code],
  [409, A2A_ERRORS.TASK_NOT_CANCELABLE.code],
  [415, A2A_ERRORS.CONTENT_TYPE_NOT_SUPPORTED.code],
  [422, A2A_ERRORS.INVALID_PARAMS.code],
]);

/** The error of a body that tells of it in words alone. */
function wordsOf(body: JsonObject | undefined, status: number): AgentCallError | undefined {
  if (body === undefined) return undefined;
  const { message } = isJsonObject(body.error) ? body.error : body;
  if (typeof message !== 'string') return undefined;
  const code = Object.keys(body).length === 1 && 'message' in body ? LEGACY_STATUSES.get(status) : undefined;
  if (code !== undefined) return rpcFailure(code, message);
  return new AgentCallError('client-error', `HTTP ${status}: ${message}`, { code: status });
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
