import type {
  Client,
  JSONRPCMessage,
  jsonSchemaValidator,
  PriorDiscovery,
  RequestId,
  RequestOptions,
  Tool,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { AgentCallError } from '#libs/a2a-client';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { McpToolDefinition } from '../pins/tool-listing.js';
import { cutReason } from './http-transport.js';

/**
 * Name of the member of a stand-in that contains the server's original result. A stand-in is a substitute result that
 * every schema of the SDK accepts (see `withUncheckedResults`).
 */
const AS_SENT = 'parley/asSent';

/** Maximum number of answers per minute to requests that a server sends. Further requests get no answer. */
const MOST_ANSWERS = 60;
const MINUTE_MS = 60_000;

/** Sent request whose answer has not arrived. */
interface PendingRequest {
  method: string;
  /** Controller that aborts the reading of the answer. */
  given: AbortController;
}

/**
 * Wraps a transport.
 * - The SDK does not validate results of `tools/list` and `tools/call`, because it would reject a whole result if one
 *   member had a wrong type. The SDK gets a stand-in (a substitute result without content), and `resultAsSent` returns
 *   the original.
 * - The answer to a canceled request is not read further, in either era of the protocol (see McpSession).
 * - Requests that the server sends get at most 60 answers per minute.
 */
function withUncheckedResults(transport: Transport): Transport {
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
  // The SDK calls this handler with each message before it handles the message itself.
  transport.onmessage = (message) => {
    if (!('id' in message) || 'method' in message || message.id === undefined) return;
    const request = pending.get(message.id);
    pending.delete(message.id);
    if (request && 'result' in message) message.result = standIn(request.method, message.result as JsonObject) as never;
  };
  return transport;
}

/** Limits the answers to requests that a server sends: at most MOST_ANSWERS in a minute. */
class AnswerCount {
  private count = 0;
  private until = 0;

  /** Counts an answer. @returns true if it may be sent now */
  mayAnswer(): boolean {
    const now = performance.now();
    if (now >= this.until) [this.count, this.until] = [0, now + MINUTE_MS];
    this.count += 1;
    return this.count <= MOST_ANSWERS;
  }
}

/** Returns the original result of the server, which a stand-in contains. Any other result is returned unchanged. */
function resultAsSent(result: unknown): JsonObject {
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

/**
 * Returns a stand-in: a substitute that contains the original result and that every schema of the SDK accepts. An
 * incomplete result, a malformed page of tools, and the result of another method get no stand-in: the SDK validates
 * them.
 */
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

/** Time limits of a session, in milliseconds. */
export interface SessionTimes {
  /** Maximum milliseconds of the handshake that opens the session. */
  connect: number;
  /** Maximum milliseconds until one page of the list of tools has arrived. */
  list: number;
  /** Maximum milliseconds until all pages of the list of tools have arrived. */
  listTotal: number;
  /** Maximum milliseconds of silence during a tool call: each progress notification restarts this time. */
  call: number;
  /** Maximum milliseconds until the answer to a tool call. Progress notifications do not extend this time. */
  callTotal: number;
}

export const SESSION_TIMES: SessionTimes = {
  connect: 20_000,
  list: 30_000,
  listTotal: 60_000,
  call: 120_000,
  callTotal: 900_000,
};

/** Options of one tool call in a session. */
export interface SessionCall {
  signal: AbortSignal;
  /** Trace context (`traceparent`, …) for `_meta` of the request; absent if the call is not traced. */
  trace?: Readonly<Record<string, string>>;
}

/** Maximum number of pages without tools in one list. The number of tools bounds the other pages. */
const MOST_EMPTY_PAGES = 64;
/** Maximum number of characters of a cursor, which is sent back in the request for the next page. */
const LONGEST_CURSOR = 4_096;
const NAME = { name: 'parley', version: '1.0.0' };
/** Validator that accepts every output, as patterns in the output schema of a server could take any time to check. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/**
 * Open session with an MCP server, in either era of the protocol: `legacy` (opened by `initialize`) or `modern`
 * (`server/discover`).
 */
export class McpSession {
  /** True once the session has ended. No request can be sent after that. */
  ended = false;

  private constructor(
    private readonly client: Client,
    private readonly transport: Transport,
    private readonly times: SessionTimes,
  ) {}

  /**
   * Opens a session. The SDK is loaded on first use.
   * @param prior era of the protocol that the server is known to speak; absent: the server is asked
   */
  static async openSession(
    transport: Transport,
    times: SessionTimes,
    events: { ended: () => void; outdateListing: () => void },
    prior?: PriorDiscovery,
  ): Promise<McpSession> {
    const { Client: SdkClient } = await import('@modelcontextprotocol/client');
    const client = new SdkClient(NAME, {
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: times.connect } },
      jsonSchemaValidator: UNCHECKED,
      inputRequired: { autoFulfill: false },
    });
    const session = new McpSession(client, transport, times);
    client.onclose = () => {
      session.ended = true;
      events.ended();
    };
    // Errors that belong to no request are ignored.
    client.onerror = () => undefined;
    client.setNotificationHandler('notifications/tools/list_changed', events.outdateListing);
    try {
      await client.connect(withUncheckedResults(transport), { timeout: times.connect, ...(prior && { prior }) });
    } catch (error) {
      await transport.close().catch(() => undefined);
      throw error;
    }
    return session;
  }

  /** Era of the protocol that the server speaks, for the next session with it; `undefined` if it is unknown. */
  get prior(): PriorDiscovery | undefined {
    const discover = this.client.getDiscoverResult();
    if (discover) return { kind: 'modern', discover };
    return this.client.getProtocolEra() === 'legacy' ? { kind: 'legacy' } : undefined;
  }

  /** True if the server assigned a session id. Such a server may forget the session. */
  get isKept(): boolean {
    return this.transport.sessionId !== undefined;
  }

  /**
   * Yields the list of tools page by page.
   * @throws the reason of the signal; no further page is requested then
   * @throws AgentCallError if the list has too many pages without tools, or takes too long
   */
  async *listPages(signal: AbortSignal): AsyncGenerator<JsonValue[]> {
    if (!this.client.getServerCapabilities()?.tools) return;
    const until = performance.now() + this.times.listTotal;
    let cursor: string | undefined;
    for (let empty = 0; empty < MOST_EMPTY_PAGES;) {
      const params = cursor === undefined ? {} : { cursor };
      const timeout = Math.min(this.times.list, until - performance.now());
      if (timeout <= 0) throw new AgentCallError('timeout', 'timeout: its list of tools did not end in time');
      const result = await this.sendRequest(
        (options) => this.client.request({ method: 'tools/list', params }, { ...options, timeout }),
        signal,
      );
      const { tools, nextCursor } = resultAsSent(result);
      if (!Array.isArray(tools) || tools.length === 0) empty += 1;
      yield tools as JsonValue[];
      if (typeof nextCursor !== 'string' || nextCursor === cursor) return;
      if (nextCursor.length > LONGEST_CURSOR)
        throw new AgentCallError('invalid-response', `a cursor of its list has more than ${LONGEST_CURSOR} characters`);
      cursor = nextCursor;
    }
    throw new AgentCallError(
      'invalid-response',
      `its list of tools has more than ${MOST_EMPTY_PAGES} pages without tools`,
    );
  }

  /** Calls a tool once. @throws the reason of the signal */
  async sendToolCall(
    { name: offered, calledAs: name = offered, title, description, inputSchema }: McpToolDefinition,
    args: JsonObject,
    { signal, trace }: SessionCall,
  ): Promise<JsonObject> {
    const params = { name, arguments: args, ...(trace && { _meta: { ...trace } }) };
    const toolDefinition = { name, title, description, inputSchema } as Tool;
    const { call: timeout, callTotal: maxTotalTimeout } = this.times;
    // With a progress handler the SDK resets the timeout on each progress notification.
    const patience = { timeout, maxTotalTimeout, resetTimeoutOnProgress: true, onprogress: () => undefined };
    const result = await this.sendRequest(
      (options) => this.client.callTool(params, { ...options, ...patience, toolDefinition }),
      signal,
    );
    return resultAsSent(result);
  }

  async close(): Promise<void> {
    await this.client.close();
  }

  private async sendRequest<T>(request: (options: RequestOptions) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await request({ ...(signal && { signal }) });
    } catch (error) {
      signal?.throwIfAborted();
      throw cutReason(error) ?? error;
    }
  }
}
