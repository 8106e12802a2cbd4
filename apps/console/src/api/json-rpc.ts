import { callApi, readEvents, requestApi } from './http.js';
import { newId } from './new-id.js';
import { ApiProblem } from './problem.js';

/** Headers that name the version of A2A. */
const HEADERS = { 'a2a-version': '1.0' };

export interface JsonRpcRequest {
  jsonrpc: '2.0';
  id: string;
  method: string;
  params: unknown;
}

export interface RpcResponse<T = unknown> {
  result?: T;
  error?: { code: number; message: string; data?: unknown };
}

/** A frame of a stream of JSON-RPC responses. */
export interface RpcFrame<T = unknown> {
  /** Number of the frame's event in its Task, if it has one. */
  sequence?: number;
  /** The whole frame as received. */
  response: RpcResponse<T>;
}

export function rpcRequest(method: string, params: unknown): JsonRpcRequest {
  return { jsonrpc: '2.0', id: newId(), method, params };
}

/**
 * Calls an agent of this service, and returns the result.
 * @param base path of the agent, such as `/a2a`
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export async function callAgent<T>(base: string, method: string, params: unknown, signal?: AbortSignal): Promise<T> {
  const body = rpcRequest(method, params);
  const response = await callApi<RpcResponse<T>>('POST', base, { body, headers: HEADERS, ...(signal && { signal }) });
  return unwrapResult(response);
}

/**
 * Yields the frames of an answer: all frames of a stream, or the only response of an agent that does not stream. An
 * error inside a frame is not thrown: the caller handles it.
 * @throws ApiProblem if no answer comes or the connection breaks
 */
export async function* rpcStream<T>(
  base: string,
  body: JsonRpcRequest,
  { since, signal }: { since?: number; signal: AbortSignal },
): AsyncGenerator<RpcFrame<T>, void, undefined> {
  const path = since === undefined ? base : `${base}?since=${since}`;
  const headers = { ...HEADERS, accept: 'text/event-stream' };
  const response = await requestApi('POST', path, { body, headers, signal });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    yield { response: (await response.json()) as RpcResponse<T> };
    return;
  }
  if (!response.body) return;
  for await (const { id, data } of readEvents(response.body)) {
    const sequence = Number(id);
    yield { ...(sequence > 0 && { sequence }), response: JSON.parse(data) as RpcResponse<T> };
  }
}

/**
 * Returns the result of a response.
 * @throws ApiProblem if the response is an error
 */
export function unwrapResult<T>({ result, error }: RpcResponse<T>): T {
  if (error) throw new ApiProblem(200, sentenceOfError(error));
  return result as T;
}

/** Returns an error's message, followed by each invalid field that the error names with its description. */
export function sentenceOfError({ message, data }: NonNullable<RpcResponse['error']>): string {
  const details = Array.isArray(data) ? (data as { fieldViolations?: RpcViolation[] }[]) : [];
  const violations = details.flatMap(({ fieldViolations = [] }) => fieldViolations);
  if (violations.length === 0) return message;
  return `${message}: ${violations.map(({ field, description }) => `${field} ${description}`).join('; ')}`;
}

interface RpcViolation {
  field: string;
  description: string;
}
