import { isNativeError } from 'node:util/types';
import { type FaultKind, ParleyFault } from '#libs/faults';
import { OutboundFault, OutboundTimeoutError, requestedPause } from '#libs/http-client';
import {
  A2A_ERRORS,
  A2AError,
  type A2AErrorReason,
  briefText,
  InvalidProtocolValue,
  isJsonObject,
  type JsonObject,
  withoutStackTrace,
} from '#libs/protocol';
import { AgentCallError, type AgentCallFailure } from './agent-call-error.js';

/** Converts an error of a call to an AgentCallError; an AgentCallError is returned unchanged. */
export function toAgentCallError(error: unknown): AgentCallError {
  if (error instanceof AgentCallError) return error;
  if (error instanceof A2AError) return rpcFailure(error.code, error.message, error);
  return sdkFailure(error) ?? (causesOf(error).some(isNetworkError) ? networkFailure(error) : notA2A(error));
}

/** Maximum number of characters of the message in an agent's error that are passed on. */
const LONGEST_MESSAGE = 2_000;

/**
 * Creates the failure for an agent's error: `a2a error <code>: <message>`.
 * @param said the message of the error; a stack trace in it is not passed on
 * @param data details that the agent sent in addition to the message
 */
export function rpcFailure(code: number, said: string, cause?: unknown, data?: unknown): AgentCallError {
  const kind = code === A2A_ERRORS.TASK_NOT_FOUND.code ? 'not-found' : 'rpc-error';
  const message = briefError(said);
  const details = message === said ? data : [said, data];
  return new AgentCallError(kind, `a2a error ${code}: ${message}`, { code, cause, data: details });
}

function briefError(said: string): string {
  return briefText(withoutStackTrace(said), LONGEST_MESSAGE);
}

/** Returns the JSON-RPC code of a reason in `google.rpc.ErrorInfo`; `undefined` for an unknown reason. */
export function codeOfReason(reason: unknown): number | undefined {
  return typeof reason === 'string' && Object.hasOwn(A2A_ERRORS, reason)
    ? A2A_ERRORS[reason as A2AErrorReason].code
    : undefined;
}

/**
 * Converts a network error of a request or its body to an AgentCallError. The message has a public text or the system's
 * error code, never an internal address.
 */
export function networkFailure(error: unknown): AgentCallError {
  if (error instanceof AgentCallError) return error;
  const causes = causesOf(error);
  for (const fault of causes.filter((it) => it instanceof ParleyFault)) {
    const kind = NETWORK_FAILURES[fault.kind];
    if (kind && fault.publicMessage !== undefined)
      return new AgentCallError(kind, fault.publicMessage, { cause: error });
  }
  const code = causes.map(codeOf).findLast((it) => it !== undefined);
  const unsent = code === 'ECONNREFUSED';
  return new AgentCallError('connect', `no connection (${code ?? 'network error'})`, { cause: error, unsent });
}

/** Kind of the AgentCallError for each kind of fault that can cause a network error. */
const NETWORK_FAILURES: Partial<Record<FaultKind, AgentCallFailure>> = {
  refused: 'refused',
  timeout: 'timeout',
  overloaded: 'overloaded',
  'too-long': 'invalid-response',
};

/** True if a call failed before it had a connection: nothing was sent. */
export function isUnconnected({ unsent, cause }: AgentCallError): boolean {
  return unsent || causesOf(cause).some(isConnectFailure);
}

function isConnectFailure(error: Error): boolean {
  if (error instanceof OutboundTimeoutError) return error.phase === 'connect';
  return error instanceof OutboundFault && error.kind === 'connect';
}

function isNetworkError(error: Error): boolean {
  return error instanceof OutboundFault || /^(UND_ERR_|E[A-Z]+$)/.test(codeOf(error) ?? '');
}

function codeOf(error: Error): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : undefined;
}

/**
 * Converts an error of the SDK; `undefined` for any other error. Errors are recognized by their members, since the
 * error classes differ between the SDK's bundles.
 */
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

/** Converts the name of an error class to the reason of its error: `TaskNotFoundError` becomes `TASK_NOT_FOUND`. */
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

/** True for an error, including one that another JavaScript realm (such as Node's own `fetch`) has created. */
function isError(value: unknown): value is Error {
  return value instanceof Error || isNativeError(value);
}

/** Facts about a call answered with an HTTP status other than 2xx. */
export interface RefusedCall {
  /** Value of the `Retry-After` header. */
  retryAfter?: string | undefined;
  /** Size of the request's body, in bytes; absent if unknown. */
  sentBytes?: number | undefined;
}

/** Creates the failure for an HTTP status other than 2xx; the body of a 4xx may have more details. */
export function statusFailure(status: number, body: string, call: RefusedCall = {}): AgentCallError {
  const answered = { status, retryAfter: requestedPause(call.retryAfter) };
  if (status >= 500) return new AgentCallError('server-error', `HTTP ${status}`, { code: status, ...answered });
  const json = tryParseObject(body);
  const reported = errorOf(json) ?? messageError(json, status);
  if (status === 401 || status === 403) return unauthorizedFailure(status, reported);
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

/**
 * Creates the failure for 401 (missing or unaccepted credentials) or 403 (forbidden call) (A2A 1.0, section 7.4).
 * @param reported error in the body of the answer, if it could be read
 */
function unauthorizedFailure(status: 401 | 403, reported: AgentCallError | undefined): AgentCallError {
  const text = status === 401 ? 'the agent does not accept who calls' : 'the agent forbids the call';
  const detail = reported ? `: ${reported.message}` : '';
  return new AgentCallError('unauthorized', `HTTP ${status}: ${text}${detail}`, { code: status });
}

/**
 * Reads the error in a body, in any form of A2A: a JSON-RPC response; a `google.rpc.Status` of the REST binding
 * (section 11.6); a problem of RFC 9457; or a top-level JSON-RPC code or the name of a class of errors, as servers of
 * 0.3 send them over REST. Returns `undefined` for other bodies.
 */
export function errorOf(body: JsonObject | undefined): AgentCallError | undefined {
  if (body === undefined) return undefined;
  const error = isJsonObject(body.error) ? body.error : 'jsonrpc' in body ? undefined : body;
  if (error === undefined) return undefined;
  const { code, details, type } = error;
  const text = errorText(body);
  if (isClassOfError(body.error)) return rpcFailure(codeOfClass(body.error), text);
  if ('jsonrpc' in body) return rpcFailure(Number(code), text, undefined, error.data);
  const reasons = Array.isArray(details) ? details.filter(isJsonObject).map((it) => it.reason) : [];
  const known = [...reasons, reasonOfType(type)].map(codeOfReason).find((it) => it !== undefined);
  if (known !== undefined) return rpcFailure(known, text);
  return isRpcCode(code) ? rpcFailure(code, text) : undefined;
}

/**
 * Returns the text of the error that a body contains: its `message`, `detail` or `title`; `no message` if it has none.
 */
export function errorText(body: JsonObject): string {
  const { message, detail, title } = isJsonObject(body.error) ? body.error : body;
  return [message, detail, title].find((it) => typeof it === 'string') ?? 'no message';
}

/** True for the name of a class of errors, which the Java SDK of 0.3 sends over REST: `io.a2a.spec.InternalError`. */
function isClassOfError(name: unknown): name is string {
  return typeof name === 'string' && name.endsWith('Error');
}

function codeOfClass(name: string): number {
  return codeOfReason(reasonOfName(name.slice(name.lastIndexOf('.') + 1))) ?? A2A_ERRORS.INTERNAL.code;
}

/** True for a code in the range reserved by JSON-RPC 2.0. The codes of A2A are in this range. */
function isRpcCode(code: unknown): code is number {
  return typeof code === 'number' && code >= -32_768 && code <= -32_000;
}

/**
 * Converts the URI of a problem type to the reason of its error: `https://a2a-protocol.org/errors/task-not-found`
 * becomes `TASK_NOT_FOUND`; `undefined` for other types.
 */
function reasonOfType(type: unknown): string | undefined {
  const [, name] = typeof type === 'string' ? (/\/errors\/([a-z-]+)$/.exec(type) ?? []) : [];
  return name?.replaceAll('-', '_').toUpperCase();
}

/**
 * JSON-RPC code for each HTTP status of A2A 0.3 over REST, for servers whose error bodies have nothing but a message.
 */
const LEGACY_STATUSES: ReadonlyMap<number, number> = new Map([
  [400, A2A_ERRORS.INVALID_PARAMS.code],
  [404, A2A_ERRORS.TASK_NOT_FOUND.code],
  [409, A2A_ERRORS.TASK_NOT_CANCELABLE.code],
  [415, A2A_ERRORS.CONTENT_TYPE_NOT_SUPPORTED.code],
  [422, A2A_ERRORS.INVALID_PARAMS.code],
]);

/**
 * Reads the error in a body that has a `message`; `undefined` if the body has no `message`. The code of the error is
 * the HTTP status, except if `message` is the body's only member and LEGACY_STATUSES lists the status: then it is the
 * JSON-RPC code from LEGACY_STATUSES.
 */
function messageError(body: JsonObject | undefined, status: number): AgentCallError | undefined {
  if (body === undefined) return undefined;
  const { message } = isJsonObject(body.error) ? body.error : body;
  if (typeof message !== 'string') return undefined;
  const code = Object.keys(body).length === 1 && 'message' in body ? LEGACY_STATUSES.get(status) : undefined;
  if (code !== undefined) return rpcFailure(code, message);
  return new AgentCallError('client-error', `HTTP ${status}: ${briefError(message)}`, { code: status });
}

/** Parses a JSON object; `undefined` for any other text. */
export function tryParseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Counter of finished outbound calls by outcome: `ok`, or the kind of the AgentCallError. */
export interface OutcomeCounter {
  inc(labels: { outcome: string }): void;
}

/** Counts the outcomes of calls to agents. */
export class CallOutcomes {
  constructor(private readonly calls?: OutcomeCounter) {}

  /** Runs and counts a call. @throws AgentCallError for any failure */
  async countOutcome<T>(call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      this.calls?.inc({ outcome: 'ok' });
      return answer;
    } catch (error) {
      throw this.#countFailure(error);
    }
  }

  /** Yields a stream's events and counts its outcome. A stream that its reader stops early counts as `ok`. */
  async *countedStream<T>(events: AsyncIterable<T>): AsyncIterable<T> {
    let outcome = 'ok';
    try {
      yield* events;
    } catch (error) {
      const failure = toAgentCallError(error);
      outcome = failure.kind;
      throw failure;
    } finally {
      this.calls?.inc({ outcome });
    }
  }

  /** Counts a call that has ended. @param failure absent if the call succeeded or its reader stopped early */
  countEnd(failure: AgentCallError | undefined): void {
    this.calls?.inc({ outcome: failure?.kind ?? 'ok' });
  }

  #countFailure(error: unknown): Error {
    const failure = toAgentCallError(error);
    this.calls?.inc({ outcome: failure.kind });
    return failure;
  }
}
