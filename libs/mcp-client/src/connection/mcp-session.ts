import type {
  Client,
  jsonSchemaValidator,
  PriorDiscovery,
  RequestOptions,
  Tool,
  Transport,
} from '@modelcontextprotocol/client';
import { AgentCallError } from '#libs/a2a-client';
import type { JsonObject, JsonValue } from '#libs/protocol';
import type { McpToolDefinition } from '../pins/tool-definition.js';
import { cutReason } from './http-transport.js';
import { resultAsSent, withUncheckedResults } from './unchecked-results.js';

/** Time limits in milliseconds. */
export interface SessionTimes {
  /** Limit for the handshake. */
  connect: number;
  /** Limit for one page of the list of tools. */
  list: number;
  /** Limit for the whole list. */
  listTotal: number;
  /** Limit between a call and its answer, or between two progress notifications. */
  call: number;
  /** Limit for a call's answer, whatever progress is reported. */
  callTotal: number;
}

export const SESSION_TIMES: SessionTimes = {
  connect: 20_000,
  list: 30_000,
  listTotal: 60_000,
  call: 120_000,
  callTotal: 900_000,
};

export interface SessionCall {
  signal: AbortSignal;
  /** Trace context for the request's `_meta`. */
  trace?: Readonly<Record<string, string>>;
}

const MOST_PAGES = 64;
/** Maximum length of a cursor, which is sent back in the request for the next page. */
const LONGEST_CURSOR = 4_096;
const NAME = { name: 'parley', version: '1.0.0' };
/** Accepts every output: the patterns of a server's output schemas could take any time to check. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** Open session with a server, in either era of the protocol. */
export class McpSession {
  /** True once the session has ended; no request is possible any more. */
  ended = false;

  private constructor(
    private readonly client: Client,
    private readonly transport: Transport,
    private readonly times: SessionTimes,
  ) {}

  /**
   * Loads the SDK on first use, and opens a session.
   * @param prior known era of the server; absent: the server is asked
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
    // Errors outside of requests have no effect here.
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

  /** Era of the server, for the next session with it. */
  get prior(): PriorDiscovery | undefined {
    const discover = this.client.getDiscoverResult();
    if (discover) return { kind: 'modern', discover };
    return this.client.getProtocolEra() === 'legacy' ? { kind: 'legacy' } : undefined;
  }

  /** True if the server keeps a session id that it may forget. */
  get isKept(): boolean {
    return this.transport.sessionId !== undefined;
  }

  /**
   * Yields the list of tools page by page.
   * @throws the signal's reason, and requests no page after that; AgentCallError if the list has too many pages or
   * takes too long
   */
  async *listPages(signal: AbortSignal): AsyncGenerator<JsonValue[]> {
    if (!this.client.getServerCapabilities()?.tools) return;
    const until = performance.now() + this.times.listTotal;
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const timeout = Math.min(this.times.list, until - performance.now());
      if (timeout <= 0) throw new AgentCallError('timeout', 'timeout: its list of tools did not end in time');
      const result = await this.sendRequest(
        (options) => this.client.request({ method: 'tools/list', params }, { ...options, timeout }),
        signal,
      );
      const { tools, nextCursor } = resultAsSent(result);
      yield tools as JsonValue[];
      if (typeof nextCursor !== 'string' || nextCursor === cursor) return;
      if (nextCursor.length > LONGEST_CURSOR)
        throw new AgentCallError('invalid-response', `a cursor of its list has more than ${LONGEST_CURSOR} characters`);
      cursor = nextCursor;
    }
    throw new AgentCallError('invalid-response', `its list of tools has more than ${MOST_PAGES} pages`);
  }

  /** Calls a tool once. @throws the signal's reason */
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
