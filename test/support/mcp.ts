import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JsonObject } from '#libs/protocol';

/**
 * Versions of MCP, with the way in which a client learns the server's version: by the handshake of 2025-11-25, or by
 * asking for 2026-07-28 first.
 */
export const ERAS = [
  ['2025-11-25', 'legacy'],
  ['2026-07-28', 'auto'],
] as const;

const TASKS = 'io.modelcontextprotocol/tasks';
const META = 'io.modelcontextprotocol/';

export interface ClientOptions {
  mode: 'legacy' | 'auto';
  headers?: Record<string, string>;
  /** Returns the answer of the client's user to a question; absent: the client cannot ask. */
  answers?: (question: JsonObject) => JsonObject;
  /** Function that makes the client's requests; default: the global `fetch`. */
  fetch?: typeof fetch;
}

/** Connects the official client, and returns it. */
export async function mcpClient(url: string, { mode, headers = {}, answers, fetch }: ClientOptions): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: answers ? { elicitation: {} } : {}, versionNegotiation: { mode } },
  );
  if (answers) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      return answers(params as unknown as JsonObject) as { action: 'accept' };
    });
  }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, ...(fetch && { fetch }) }),
  );
  return client;
}

export interface McpReply {
  status: number;
  headers: Headers;
  text: string;
  /** Body of the response, or the last message if the response is a stream. */
  body: { id?: unknown; result?: JsonObject; error?: { code: number; message: string; data?: JsonObject } };
}

export interface McpCall {
  headers?: Record<string, string>;
  capabilities?: JsonObject;
}

/** Sends one request of MCP 2026-07-28 without a client library. By default the client supports tasks. */
export function mcp(
  url: string,
  method: string,
  params: JsonObject = {},
  { headers = {}, capabilities = { extensions: { [TASKS]: {} } } }: McpCall = {},
): Promise<McpReply> {
  const _meta = {
    [`${META}protocolVersion`]: '2026-07-28',
    [`${META}clientInfo`]: { name: 'test', version: '1' },
    [`${META}clientCapabilities`]: capabilities,
  };
  const name = params['taskId'] ?? params['name'];
  return post(
    url,
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...headers,
    },
  );
}

/** Posts any body. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<McpReply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const json =
    text
      .split('\n')
      .findLast((line) => line.startsWith('data: '))
      ?.slice(6) ?? text;
  const parsed = json === '' ? {} : (JSON.parse(json) as McpReply['body']);
  return { status: response.status, headers: response.headers, text, body: parsed };
}
