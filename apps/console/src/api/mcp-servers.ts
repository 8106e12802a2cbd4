import { call, get } from './http.js';

export type McpStatus = 'ok' | 'changed' | 'unreachable';

/** An MCP server, and what is known of it without asking it. */
export interface McpServer {
  name: string;
  /** `file`: from the file of the operator, and not to be changed here. */
  source: 'file' | 'api';
  transport: 'http' | 'stdio';
  url?: string;
  auth?: string;
  allow?: string[];
  approve?: string[];
  /** Absent of one that was never asked. */
  status?: McpStatus;
}

export interface McpTool {
  name: string;
  description: string;
  inputSchema: unknown;
  annotations: { title?: string; readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
  allowed: boolean;
  needsApproval: boolean;
  blocked: boolean;
}

/** What is different about a tool since it was pinned. */
export interface ToolChange {
  tool: string;
  kind: 'added' | 'removed' | 'changed';
  blocked: boolean;
  differences: { path: string; kind: string; before?: unknown; after?: unknown }[];
}

/** An MCP server that was asked. */
export interface McpServerDetail extends McpServer {
  status: McpStatus;
  /** Of all tools as they were seen last: what `accept` names. */
  hash?: string;
  tools: McpTool[];
  changes?: ToolChange[];
  /** Why it is unreachable. */
  error?: string;
  acceptedAt?: string;
  acceptedBy?: string;
}

export async function listMcpServers(signal: AbortSignal): Promise<McpServer[]> {
  return (await get<{ servers: McpServer[] }>('/api/mcp-servers', signal)).servers;
}

/** Asks the server, which may take it some seconds. */
export function getMcpServer(name: string, signal?: AbortSignal): Promise<McpServerDetail> {
  return get(`/api/mcp-servers/${encodeURIComponent(name)}`, signal);
}

/** Pins the tools as they were looked at. @throws ApiProblem 409 where they have changed again */
export function acceptTools(name: string, hash: string): Promise<McpServerDetail> {
  return call('POST', `/api/mcp-servers/${encodeURIComponent(name)}/accept`, { body: { hash } });
}
