import { call, get } from '../api/http.js';

export const PROVIDERS = {
  'openai-compatible': 'OpenAI-compatible endpoint',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
} as const;

export interface Model {
  name: string;
  provider: keyof typeof PROVIDERS;
  model: string;
  baseUrl?: string;
  auth?: string;
  input: string[];
  updatedAt: string;
}

export const KINDS = {
  'api-key': 'API key',
  bearer: 'Bearer token',
  basic: 'User and password',
  'oauth2-client-credentials': 'OAuth 2.0 client',
} as const;

export type CredentialKind = keyof typeof KINDS;

/** A credential as it is shown: never its secret. */
export interface Credential {
  name: string;
  kind: CredentialKind;
  hosts?: string[];
  in?: string;
  parameter?: string;
  username?: string;
  tokenUrl?: string;
  clientId?: string;
  scopes?: string[];
  audience?: string;
  clientAuthentication?: string;
  updatedAt: string;
  lastUsedAt?: string;
  lastError?: { at: string; message: string };
}

export interface Key {
  id: string;
  name: string;
  scopes: string[];
  createdAt: string;
  createdBy?: string;
  endsAt?: string;
}

export interface PinnedCard {
  id: string;
  url: string;
  name: string;
  status: 'pinned' | 'changed';
  blocked: boolean;
  seenHash?: string;
  lastSeenAt: string;
}

export interface CardDetail extends PinnedCard {
  card: unknown;
  seenCard?: unknown;
  changes: {
    to: string;
    firstSeenAt: string;
    acceptedAt?: string;
    changes: { path: string; kind: string; significant: boolean; before?: unknown; after?: unknown }[];
  }[];
}

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

export async function listModels(signal: AbortSignal): Promise<Model[]> {
  return (await get<{ models: Model[] }>('/api/models', signal)).models;
}

export async function listCredentials(signal: AbortSignal): Promise<Credential[]> {
  return (await get<{ credentials: Credential[] }>('/api/credentials', signal)).credentials;
}

export async function listKeys(signal: AbortSignal): Promise<Key[]> {
  return (await get<{ keys: Key[] }>('/api/keys', signal)).keys;
}

/** What is kept by a name. */
export type Kept = 'models' | 'mcp-servers' | 'credentials';

/** Keeps something new, or, where it has a name already, what takes its place. @throws ApiProblem */
export function keep(kind: Kept, name: string | undefined, body: object): Promise<unknown> {
  if (name === undefined) return call('POST', `/api/${kind}`, { body });
  return call('PUT', `/api/${kind}/${encodeURIComponent(name)}`, { body });
}

/** @throws ApiProblem */
export function remove(kind: Kept | 'keys', id: string): Promise<unknown> {
  return call('DELETE', `/api/${kind}/${encodeURIComponent(id)}`);
}
