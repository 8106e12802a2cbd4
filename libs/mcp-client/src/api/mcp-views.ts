import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { JsonObject } from '#libs/protocol';
import type { FoundServer } from '../mcp-server-tools.js';
import { matchesAny } from '../mcp-tools.js';
import { toolHash } from '../pins/tool-listing.js';
import type { ToolChange } from '../pins/tool-pins.js';
import type { McpServer } from '../servers/mcp-servers.js';

const HASH = 'qK3l0x7pS9n1';

/**
 * Statuses of an MCP server.
 * - `ok`: the server lists the pinned tools.
 * - `changed`: a change of its tools waits to be accepted.
 * - `unreachable`: the server did not answer.
 */
const MCP_STATUSES = ['ok', 'changed', 'unreachable'] as const;
export type McpStatus = (typeof MCP_STATUSES)[number];

export class McpServerView {
  @ApiProperty({ example: 'github' })
  name!: string;

  @ApiProperty({
    enum: ['file', 'api'],
    description: '`file`: comes from the file of the operator and is read-only here.',
  })
  source!: 'file' | 'api';

  @ApiProperty({ enum: ['http', 'stdio'] })
  transport!: 'http' | 'stdio';

  @ApiPropertyOptional({ example: 'https://mcp.example.com/v1' })
  url?: string;

  @ApiPropertyOptional({ example: 'partner' })
  auth?: string;

  @ApiPropertyOptional({ type: [String], example: ['search_*'] })
  allow?: string[];

  @ApiPropertyOptional({ type: [String], example: ['delete_*'] })
  approve?: string[];

  @ApiPropertyOptional({ format: 'date-time' })
  createdAt?: string;

  @ApiPropertyOptional({ format: 'date-time' })
  updatedAt?: string;

  @ApiPropertyOptional({
    enum: MCP_STATUSES,
    description:
      '`changed`: a change waits to be accepted. Lists show the last known status; absent if the server was never seen.',
  })
  status?: McpStatus;
}

export class McpServerListView {
  @ApiProperty({ type: [McpServerView] })
  servers!: McpServerView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

class McpToolView {
  @ApiProperty({ example: 'search_code' })
  name!: string;

  @ApiProperty({ description: 'Description that the server gives.', example: 'Searches code' })
  description!: string;

  @ApiProperty({ example: HASH })
  hash!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'JSON Schema of the arguments, as the server gives it.',
    example: { type: 'object' },
  })
  inputSchema!: JsonObject;

  @ApiProperty({ type: 'object', additionalProperties: true, example: { readOnlyHint: true } })
  annotations!: JsonObject;

  @ApiProperty({ description: 'True if `allow` matches the tool.' })
  allowed!: boolean;

  @ApiProperty({ description: 'True if `approve` matches the tool.' })
  needsApproval!: boolean;

  @ApiProperty({ description: 'True if calls are rejected until a change is accepted.' })
  blocked!: boolean;
}

class SkippedToolView {
  @ApiProperty({ description: 'Name of the skipped tool.', example: 'search' })
  name!: string;

  @ApiProperty({ example: 'has no inputSchema that is an object' })
  reason!: string;
}

export class McpServerDetailView extends McpServerView {
  @ApiPropertyOptional({ description: 'Hash of all tools as they were last seen; `accept` names it.', example: HASH })
  hash?: string;

  @ApiProperty({ type: [McpToolView] })
  tools!: McpToolView[];

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'tool, kind, blocked, differences (path, kind, before?, after?) of each changed tool.',
    example: [
      {
        tool: 'search_code',
        kind: 'changed',
        blocked: true,
        differences: [{ path: '/description', kind: 'changed', before: 'Searches code', after: 'Searches all code' }],
      },
    ],
  })
  changes?: ToolChange[];

  @ApiPropertyOptional({
    type: [SkippedToolView],
    description: 'Listed tools that cannot be offered, each with its reason; absent if there are none.',
  })
  skipped?: SkippedToolView[];

  @ApiPropertyOptional({ description: 'Reason for which the server is unreachable.', example: 'HTTP 500' })
  error?: string;

  @ApiPropertyOptional({ format: 'date-time' })
  acceptedAt?: string;

  @ApiPropertyOptional({ example: 'ann' })
  acceptedBy?: string;
}

/** Converts an MCP server for callers. The command that starts a program is omitted. */
export function mcpServerView({ name, source, at, allow, approve, createdAt, updatedAt }: McpServer): McpServerView {
  return {
    name,
    source,
    ...('url' in at
      ? { transport: 'http', url: at.url, ...(at.auth !== undefined && { auth: at.auth }) }
      : { transport: 'stdio' }),
    ...(allow && { allow: [...allow] }),
    ...(approve && { approve: [...approve] }),
    ...(createdAt && { createdAt: createdAt.toISOString() }),
    ...(updatedAt && { updatedAt: updatedAt.toISOString() }),
  };
}

export function mcpServerDetail(server: McpServer, { known, away, skipped = [] }: FoundServer): McpServerDetailView {
  const { changes = [], tools = [], pin } = known ?? {};
  return {
    ...mcpServerView(server),
    status: away !== undefined ? 'unreachable' : changes.length > 0 ? 'changed' : 'ok',
    ...(known && { hash: known.hash }),
    tools: tools.map(({ definition: { name, description, inputSchema, annotations, ...more }, blocked }) => ({
      name,
      description,
      hash: toolHash({ name, description, inputSchema, annotations, ...more }),
      inputSchema,
      annotations,
      allowed: server.allow === undefined || matchesAny(server.allow, name),
      needsApproval: matchesAny(server.approve ?? [], name),
      blocked,
    })),
    ...(changes.length > 0 && { changes }),
    ...(skipped.length > 0 && { skipped }),
    ...(away !== undefined && { error: away }),
    ...(pin?.acceptedAt && { acceptedAt: pin.acceptedAt.toISOString() }),
    ...(pin?.acceptedBy !== undefined && { acceptedBy: pin.acceptedBy }),
  };
}
