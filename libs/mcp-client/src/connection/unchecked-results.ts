import type { JSONRPCMessage, RequestId, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** Member that carries a result as the server sent it past the SDK's schemas. */
const AS_SENT = 'parley/asSent';

/** Maximum number of answers per minute to a server's own requests; further requests stay unanswered. */
const MOST_ANSWERS = 60;
const MINUTE_MS = 60_000;

interface PendingRequest {
  method: string;
  /** Aborts reading of the answer. */
  given: AbortController;
}

/**
 * Makes a transport deliver results of `tools/list` and `tools/call` unchecked: the SDK validates a stand-in, and
 * `resultAsSent` returns the original. Otherwise one member of another type would fail the whole result.
 * - The answer to a canceled request is not read further, in either era of the protocol.
 * - A server's own requests get at most 60 answers per minute.
 */
export function withUncheckedResults(transport: Transport): Transport {
  const pending = new Map<RequestId, PendingRequest>();
  const answers = new AnswerCount();
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (!isRequest(message)) {
      if (!('method' in message) && !answers.mayAnswer()) return;
      await send(message, options).finally(() => dropCanceled(pending, message));
      return;
    }
    const request = { method: message.method, given: new AbortController() };
    pending.set(message.id, request);
    await send(message, withSignal(options, request.given.signal)).catch((error: unknown) => {
      pending.delete(message.id);
      throw error;
    });
  };
  // The SDK calls this handler before its own, with the same message.
  transport.onmessage = (message) => {
    if (!('id' in message) || 'method' in message || message.id === undefined) return;
    const request = pending.get(message.id);
    pending.delete(message.id);
    if (request && 'result' in message) message.result = standIn(request.method, message.result as JsonObject) as never;
  };
  return transport;
}

class AnswerCount {
  private count = 0;
  private until = 0;

  /** @returns true if one more answer may be sent now */
  mayAnswer(): boolean {
    const now = performance.now();
    if (now >= this.until) [this.count, this.until] = [0, now + MINUTE_MS];
    this.count += 1;
    return this.count <= MOST_ANSWERS;
  }
}

/** Returns a result as the server sent it. */
export function resultAsSent(result: unknown): JsonObject {
  const { [AS_SENT]: sent, ...rest } = result as JsonObject;
  return isJsonObject(sent) ? sent : rest;
}

function isRequest(
  message: JSONRPCMessage | JSONRPCMessage[],
): message is Extract<JSONRPCMessage, { id: RequestId; method: string }> {
  return 'id' in message && 'method' in message;
}

function withSignal(options: TransportSendOptions | undefined, signal: AbortSignal): TransportSendOptions {
  const wanted = options?.requestSignal;
  return { ...options, requestSignal: wanted ? AbortSignal.any([wanted, signal]) : signal };
}

function dropCanceled(pending: Map<RequestId, PendingRequest>, message: JSONRPCMessage | JSONRPCMessage[]): void {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return;
  const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
  if (requestId === undefined) return;
  pending.get(requestId)?.given.abort();
  pending.delete(requestId);
}

/** Returns a stand-in that every schema accepts. An incomplete result, or one that is no object, is left to the SDK. */
function standIn(method: string, result: JsonObject): JsonObject {
  const { resultType } = result;
  if (resultType !== undefined && resultType !== 'complete') return result;
  const kind: JsonObject = resultType === undefined ? {} : { resultType };
  const sent = withoutNulls(result);
  if (method === 'tools/call') return { ...kind, content: [], [AS_SENT]: sent };
  if (method !== 'tools/list' || !Array.isArray(sent.tools) || !isCursor(sent.nextCursor)) return sent;
  const { nextCursor } = sent;
  const page = { ttlMs: 0, cacheScope: 'private', tools: [], [AS_SENT]: sent };
  return { ...kind, ...page, ...(nextCursor !== undefined && { nextCursor }) };
}

function isCursor(value: JsonValue | undefined): boolean {
  return value === undefined || typeof value === 'string';
}

function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}
