import { baseOf } from '../api/directory.js';
import { request } from '../api/http.js';
import { type RpcRequest, rpcRequest, rpcStream, sentenceOfError } from '../api/json-rpc.js';
import { ApiProblem, sentenceOf } from '../api/problem.js';
import { readEvents } from '../api/sse.js';
import type { Message, StreamResponse } from '../api/task.js';
import type { AgentRef } from './agent-ref.js';

/** A request as it is sent. */
export interface ExchangeRequest {
  method: 'POST';
  path: string;
  body: RpcRequest | { url: string; message: Message };
}

/** One frame of an answer, and what it says. */
export interface ExchangeFrame {
  /** The event's number in its Task, where it has one. */
  sequence?: number;
  /** As it came. */
  json: unknown;
  item?: StreamResponse;
  /** Why the agent refused, in a sentence. */
  error?: string;
}

/**
 * The request that sends a Message: to an agent of this service straight, to any other through the service, which alone
 * may call it.
 */
export function sendRequest(ref: AgentRef, message: Message): ExchangeRequest {
  if (ref.kind === 'remote') return { method: 'POST', path: '/api/agent-messages', body: { url: ref.url, message } };
  return { method: 'POST', path: baseOf(ref.path), body: rpcRequest('SendStreamingMessage', { message }) };
}

/** The answer, frame by frame. @throws ApiProblem where there is none, or the way to it was cut */
export async function* exchange(
  { path, body }: ExchangeRequest,
  signal: AbortSignal,
): AsyncGenerator<ExchangeFrame, void, undefined> {
  if ('jsonrpc' in body) yield* spoken(path, body, signal);
  else yield* relayed(path, body, signal);
}

async function* spoken(path: string, body: RpcRequest, signal: AbortSignal): AsyncGenerator<ExchangeFrame> {
  for await (const { sequence, response } of rpcStream<StreamResponse>(path, body, { signal })) {
    const { result, error } = response;
    yield {
      json: response,
      ...(sequence !== undefined && { sequence }),
      ...(result && { item: result }),
      ...(error && { error: sentenceOfError(error) }),
    };
  }
}

async function* relayed(path: string, body: object, signal: AbortSignal): AsyncGenerator<ExchangeFrame> {
  const response = await request('POST', path, { body, signal });
  if (!response.body) return;
  for await (const { event, data } of readEvents(response.body)) {
    const json: unknown = JSON.parse(data);
    if (event === 'error') yield { json, error: (json as { detail: string }).detail };
    else yield { json, item: json as StreamResponse };
  }
}

/** Why an exchange broke off, in a sentence. */
export function brokenSentence(error: unknown): string {
  if (error instanceof ApiProblem) return sentenceOf(error);
  return 'The connection was lost before the answer was complete.';
}
