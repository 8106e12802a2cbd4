import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { scopeOf } from '#libs/access';
import type { JsonObject } from '#libs/protocol';
import type { McpBackend } from './exchange.js';

/** Path of the card of the MCP server, below the base URL (MCP Server Card, draft of SEP-2127). */
const SERVER_CARD_PATH = '/mcp/server-card';
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';
/** Maximum characters of the description and of the title in a server card. */
const MOST_TEXT = 100;
/** Maximum characters of the domain in the name of a server, which has at most 200. */
const MOST_DOMAIN = 190;

export interface ServerCardOptions extends Pick<McpBackend, 'handler'> {
  address: { publicBaseUrl(request: FastifyRequest['raw']): string; variesBy?: readonly string[] };
  /** True if clients must authenticate. */
  isPersonal?: boolean;
}

/**
 * Registers the route of the card of the MCP server, which says where the server is and whether it needs credentials.
 * The card has nothing secret and lists no tools, so pages of any origin may read it.
 */
export function registerServerCard(scope: FastifyInstance, options: ServerCardOptions): void {
  scope.get(SERVER_CARD_PATH, async (request, reply) => sendServerCard(request, reply, options));
}

async function sendServerCard(
  request: FastifyRequest,
  reply: FastifyReply,
  options: ServerCardOptions,
): Promise<FastifyReply> {
  const { handler, address, isPersonal = false } = options;
  const baseUrl = address.publicBaseUrl(request.raw);
  const agent = await handler.resolveAgent({ scope: scopeOf(request.raw), agent: '' });
  const json = JSON.stringify(serverCard(agent, baseUrl, isPersonal));
  const etag = `"${createHash('sha256').update(json).digest('base64url').slice(0, 27)}"`;
  reply
    .header('access-control-allow-origin', '*')
    .header('access-control-expose-headers', 'ETag')
    .header('cache-control', 'public, max-age=3600')
    .header('etag', etag);
  if (address.variesBy?.length) reply.header('vary', address.variesBy.join(', '));
  if (hasTag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.header('content-type', 'application/mcp-server-card+json').send(Buffer.from(json));
}

/** Returns the card of the MCP server at `{baseUrl}/mcp`. */
function serverCard(
  { name, description, version }: { name: string; description: string; version: string },
  baseUrl: string,
  isPersonal: boolean,
): JsonObject {
  const headers = [
    { name: 'Authorization', description: 'Bearer, and an API key or access token', isRequired: true, isSecret: true },
  ];
  return {
    $schema: SCHEMA,
    name: serverName(baseUrl),
    version,
    title: shortText(name),
    description: shortText(description) || 'Workflows and agents as tools',
    remotes: [{ type: 'streamable-http', url: `${baseUrl}/mcp`, ...(isPersonal && { headers }) }],
  };
}

/** Returns the name of the server: the labels of its domain in reverse order, and `mcp`. */
function serverName(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  const isDomain = /^[a-z0-9.-]+$/.test(hostname) && hostname.length <= MOST_DOMAIN;
  if (!isDomain) return 'localhost/mcp';
  const isAddress = /^[\d.]+$/.test(hostname);
  return `${isAddress ? hostname : hostname.split('.').toReversed().join('.')}/mcp`;
}

function shortText(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MOST_TEXT ? text : `${characters.slice(0, MOST_TEXT - 1).join('')}…`;
}

function hasTag(tags: string | undefined, etag: string): boolean {
  return tags?.split(',').some((it) => it.trim() === '*' || it.trim().replace(/^W\//, '') === etag) ?? false;
}
