import { callApi, getJson } from './http.js';

export type McpServerStatus = 'ok' | 'changed' | 'unreachable';

/** An MCP server and its last known state. */
export interface ListedMcpServer {
  name: string;
  /** Origin of the entry. `file`: from the operator's file, and read-only here. */
  source: 'file' | 'api';
  transport: 'http' | 'stdio';
  url?: string;
  auth?: string;
  allow?: string[];
  approve?: string[];
  /** Result of the last call; missing if the server was never called. */
  status?: McpServerStatus;
}

export interface ListedMcpTool {
  name: string;
  description: string;
  inputSchema: unknown;
  annotations: { title?: string; readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
  allowed: boolean;
  needsApproval: boolean;
  blocked: boolean;
}

/** A difference of a tool from its pinned version. */
export interface McpToolChange {
  tool: string;
  kind: 'added' | 'removed' | 'changed';
  blocked: boolean;
  differences: { path: string; kind: string; before?: unknown; after?: unknown }[];
}

/** An MCP server with the answer to a call just made. */
export interface McpServerDetail extends ListedMcpServer {
  status: McpServerStatus;
  /** Hash of all tools as last seen; `accept` names it. */
  hash?: string;
  tools: ListedMcpTool[];
  changes?: McpToolChange[];
  /** Reason why the server is unreachable. */
  error?: string;
  acceptedAt?: string;
  acceptedBy?: string;
}

export async function listMcpServers(signal: AbortSignal): Promise<ListedMcpServer[]> {
  return (await getJson<{ servers: ListedMcpServer[] }>('/api/mcp-servers', signal)).servers;
}

/** Fetches an MCP server. The service calls the server, which may take some seconds. */
export function getMcpServer(name: string, signal?: AbortSignal): Promise<McpServerDetail> {
  return getJson(`/api/mcp-servers/${encodeURIComponent(name)}`, signal);
}

/**
 * Pins the tools with this hash.
 * @throws ApiProblem 409 if they have changed since
 */
export function acceptTools(name: string, hash: string): Promise<McpServerDetail> {
  return callApi('POST', `/api/mcp-servers/${encodeURIComponent(name)}/accept`, { body: { hash } });
}
