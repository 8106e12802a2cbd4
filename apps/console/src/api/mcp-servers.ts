import type { Schemas } from '#libs/client';
import { callApi, getJson, type Narrowed } from './http.js';

/** An MCP server and its last known state. */
export type ListedMcpServer = Schemas['McpServerView'];
export type ListedMcpTool = Schemas['McpToolView'];

/** A difference of a tool from its pinned version. */
export interface McpToolChange {
  tool: string;
  kind: 'added' | 'removed' | 'changed';
  blocked: boolean;
  differences: { path: string; kind: string; before?: unknown; after?: unknown }[];
}

/**
 * An MCP server, with the tools that it listed when the service called it for this request, their changes since they
 * were pinned, and the error if the call failed.
 */
export type McpServerDetail = Narrowed<Schemas['McpServerDetailView'], { changes?: McpToolChange[] }>;

export async function listMcpServers(signal: AbortSignal): Promise<ListedMcpServer[]> {
  return (await getJson<Schemas['McpServerListView']>('/api/mcp-servers', signal)).servers;
}

/** Fetches an MCP server. The service calls the server, which may take some seconds. */
export function getMcpServer(name: string, signal?: AbortSignal): Promise<McpServerDetail> {
  return getJson(`/api/mcp-servers/${encodeURIComponent(name)}`, signal);
}

/**
 * Accepts the current tools of an MCP server: pins them.
 * @param hash `hash` of the McpServerDetail that the person has seen
 * @throws ApiProblem 409 if the tools have changed since then
 */
export function acceptTools(name: string, hash: string): Promise<McpServerDetail> {
  return callApi('POST', `/api/mcp-servers/${encodeURIComponent(name)}/accept`, { body: { hash } });
}

export type McpToolCall = Schemas['McpToolCallView'];

/**
 * Calls a tool of an MCP server once, for a person who tries the tool. No agent or run takes part.
 * @throws ApiProblem if the service refuses the call
 */
export function callTool(
  server: string,
  body: { tool: string; args: unknown; confirmed: boolean },
): Promise<McpToolCall> {
  return callApi('POST', `/api/mcp-servers/${encodeURIComponent(server)}/call`, { body });
}
