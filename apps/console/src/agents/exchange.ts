import { baseOf } from '../api/directory.js';
import { readEvents, requestApi } from '../api/http.js';
import { type JsonRpcRequest, rpcRequest, rpcStream, sentenceOfError } from '../api/json-rpc.js';
import { ApiProblem, sentenceOf } from '../api/problem.js';
import type { A2aMessage, A2aStreamItem } from '../api/task.js';
import type { AgentRef } from './agent-ref.js';

/** Request to an agent, as the console sends and shows it. */
export interface ExchangeRequest {
  method: 'POST';
  path: string;
  body: JsonRpcRequest | { url: string; message: A2aMessage };
}

/** A frame of an answer: one event of its stream, or its only response. */
export interface ExchangeFrame {
  /** Number of the frame's event in its Task, if it has one. */
  sequence?: number;
  /** The frame as received. */
  json: unknown;
  item?: A2aStreamItem;
  /** Reason why the agent refused the request, in a sentence; absent if it did not refuse. */
  error?: string;
}

/**
 * Returns the request that sends a Message: directly to an agent of this service, through the service to a remote
 * agent.
 */
export function sendRequest(ref: AgentRef, message: A2aMessage): ExchangeRequest {
  if (ref.kind === 'remote') return { method: 'POST', path: '/api/agent-messages', body: { url: ref.url, message } };
  return { method: 'POST', path: baseOf(ref.path), body: rpcRequest('SendStreamingMessage', { message }) };
}

/**
 * Sends a request and yields the frames of its answer.
 * @throws ApiProblem if no answer comes or the connection breaks
 */
export async function* streamExchange(
  { path, body }: ExchangeRequest,
  signal: AbortSignal,
): AsyncGenerator<ExchangeFrame, void, undefined> {
  if ('jsonrpc' in body) yield* streamRpcFrames(path, body, signal);
  else yield* streamRelayedFrames(path, body, signal);
}

async function* streamRpcFrames(
  path: string,
  body: JsonRpcRequest,
  signal: AbortSignal,
): AsyncGenerator<ExchangeFrame> {
  for await (const { sequence, response } of rpcStream<A2aStreamItem>(path, body, { signal })) {
    const { result, error } = response;
    yield {
      json: response,
      ...(sequence !== undefined && { sequence }),
      ...(result && { item: result }),
      ...(error && { error: sentenceOfError(error) }),
    };
  }
}

async function* streamRelayedFrames(path: string, body: object, signal: AbortSignal): AsyncGenerator<ExchangeFrame> {
  const response = await requestApi('POST', path, { body, signal });
  if (!response.body) return;
  for await (const { event, data } of readEvents(response.body)) {
    const json: unknown = JSON.parse(data);
    if (event === 'error') yield { json, error: (json as { detail: string }).detail };
    else yield { json, item: json as A2aStreamItem };
  }
}

/** Returns a sentence for the person about the error that broke an exchange off. */
export function brokenSentence(error: unknown): string {
  if (error instanceof ApiProblem) return sentenceOf(error);
  return 'The connection was lost before the answer was complete.';
}
