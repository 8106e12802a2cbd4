import { applyDecorators, Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
} from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, Matches, MaxLength, ValidateBy } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { Caller } from '#libs/access';
import { OutboundHttp } from '#libs/http-client';
import {
  ApiClosed,
  ApiProblem,
  assertCallable,
  cutPage,
  EachEntry,
  IfGiven,
  LOCATION_HEADER,
  namedPage,
  ProblemError,
  QueryPageToken,
  QueryWholePageSize,
} from '#libs/http-server';
import { hasUserinfo, isPlainText, LONGEST_URL, TOO_LONG_URL } from '#libs/protocol';
import { MCP_GLOB, MCP_SERVER_NAME } from '#libs/service';
import { McpServerTools } from '../mcp-server-tools.js';
import { ToolPins } from '../pins/tool-pins.js';
import { type McpServer, McpServers, MOST_MCP_SERVERS, type OwnServer } from '../servers/mcp-servers.js';
import { mcpServerDetail, McpServerDetailView, McpServerListView, McpServerView, mcpServerView } from './mcp-views.js';

const HASH = /^[\w-]{1,100}$/;

/** Body that accepts the changed tools of an MCP server. */
@ApiClosed()
class McpAcceptBody {
  static readonly unknown = 'is not known here';

  @ApiProperty({
    pattern: HASH.source,
    description: '`hash` of the tools that were reviewed; other tools are not accepted.',
    example: 'qK3l0x7pS9n1',
  })
  @Matches(HASH, { message: 'must be the hash of what was seen' })
  hash!: string;
}

const MOST_GLOBS = 100;
const NAME_RULE = 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen';

/** MCP server as callers send it. */
@ApiClosed()
export class McpServerBody {
  static readonly unknown = 'is not a field of an MCP server';

  @ApiProperty({ pattern: MCP_SERVER_NAME.source, example: 'github' })
  @Matches(MCP_SERVER_NAME, { message: NAME_RULE })
  name!: string;

  @ApiProperty({
    format: 'uri',
    maxLength: LONGEST_URL,
    example: 'https://mcp.example.com/v1',
    description: 'URL of its Streamable HTTP endpoint.',
  })
  @MaxLength(LONGEST_URL, { message: TOO_LONG_URL })
  @ValidateBy(
    { name: 'endpoint', validator: { validate: isEndpoint } },
    { message: 'must be an http or https URL without credentials or fragment' },
  )
  url!: string;

  @ApiPropertyOptional({
    pattern: MCP_SERVER_NAME.source,
    description: 'Name of the credential for calls.',
    example: 'partner',
  })
  @IfGiven()
  @Matches(MCP_SERVER_NAME, { message: 'must be the name of a credential' })
  auth?: string;

  @ToolGlobs('Globs of the tools that agents may call, with `*` and `?`; default: all.', ['search_*'])
  allow?: string[];

  @ToolGlobs('Globs of the tools that need approval before an agent calls them.', ['delete_*'])
  approve?: string[];

  /**
   * Reads a body. Members that start a program are rejected, as only the operator may start programs.
   * @throws ProblemError 422
   */
  static from(sent: object): McpServerBody {
    return Object.assign(new this(), withoutProgram(sent));
  }

  get server(): OwnServer {
    const { url, auth, allow, approve } = this;
    return {
      at: { url, ...(auth !== undefined && { auth }) },
      ...(allow !== undefined && { allow }),
      ...(approve !== undefined && { approve }),
    };
  }
}

/** Body that replaces an MCP server. The name comes from the path; a name in the body is ignored. */
@ApiClosed()
class McpReplacementBody extends McpServerBody {
  static override from(sent: object): McpServerBody {
    return super.from({ ...sent, name: 'named-by-its-path' });
  }
}

const OF_PROGRAMS = ['command', 'args', 'env', 'cwd'];
const ONLY_BY_FILE = 'programs are started only from the file that the operator names with MCP_SERVERS_FILE';

function withoutProgram(sent: object): object {
  const found = OF_PROGRAMS.filter((it) => it in sent);
  if (found.length === 0) return sent;
  const entries = found.map((path) => ({ path, detail: ONLY_BY_FILE }));
  throw new ProblemError(422, `${found[0]}: ${ONLY_BY_FILE}`, entries);
}

function ToolGlobs(description: string, example: string[]): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: [String], maxItems: MOST_GLOBS, description, example }),
    IfGiven(),
    IsArray({ message: 'must be an array' }),
    ArrayMaxSize(MOST_GLOBS, { message: `must have at most ${MOST_GLOBS} entries` }),
    EachEntry((it) => typeof it === 'string' && MCP_GLOB.test(it), 'must be a glob of tool names'),
  );
}

function isEndpoint(value: unknown): boolean {
  if (typeof value !== 'string' || !isPlainText(value) || !URL.canParse(value) || hasUserinfo(value)) return false;
  const { protocol, hash } = new URL(value);
  return /^https?:$/.test(protocol) && hash === '';
}

/** Query of one page of the list of MCP servers. */
class McpServerQuery {
  @QueryWholePageSize(MOST_MCP_SERVERS)
  pageSize = MOST_MCP_SERVERS;

  @QueryPageToken((token) => MCP_SERVER_NAME.test(token), 'search')
  pageToken?: string;
}

const LONGEST_LOOK_MS = 15_000;

/**
 * Manages the MCP servers whose tools may be called: those of the tenant, and read-only those of the operator's file.
 */
@ApiTags('mcp-servers')
@Controller('api/mcp-servers')
export class McpServersController {
  constructor(
    private readonly servers: McpServers,
    private readonly tools: McpServerTools,
    private readonly pins: ToolPins,
    private readonly http: OutboundHttp,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Stores a new MCP server.' })
  @ApiCreatedResponse({ type: McpServerView, ...LOCATION_HEADER })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(409, 'An MCP server of this name exists already.')
  @ApiProblem(422, 'Only the file of the operator may start programs; or the tenant has reached its limit of servers.')
  async createMcpServer(
    @Body() body: McpServerBody,
    @Caller() { tenant }: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<McpServerView> {
    const { name } = body;
    assertCallable(this.http, body.url, 'url');
    const created = this.servers.isOfFile(name)
      ? undefined
      : await this.servers.createServer(tenant, name, body.server);
    if (!created) throw new ProblemError(409, `the MCP server "${name}" exists already`);
    void reply.header('location', `/api/mcp-servers/${name}`);
    return mcpServerView(created);
  }

  @Get()
  @ApiOperation({ summary: 'Lists MCP servers by name, with their last known state.' })
  @ApiOkResponse({ type: McpServerListView })
  @ApiProblem(400, 'A parameter is malformed.')
  async listMcpServers(@Query() query: McpServerQuery, @Caller() { tenant }: Caller): Promise<McpServerListView> {
    const read = this.servers.listServerPage(tenant, namedPage(query));
    const [found, changed] = await Promise.all([read, this.pins.findChanged(tenant)]);
    const { page, nextPageToken } = cutPage(found, query.pageSize);
    const servers = page.map((server): McpServerView => {
      const isChanged = changed.get(server.name);
      return { ...mcpServerView(server), ...(isChanged !== undefined && { status: isChanged ? 'changed' : 'ok' }) };
    });
    return { servers, nextPageToken };
  }

  @Get(':name')
  @ApiOperation({ summary: 'Queries one MCP server and returns its tools and the changes since they were pinned.' })
  @ApiOkResponse({ type: McpServerDetailView })
  @ApiProblem(404, 'MCP server not found')
  async getMcpServer(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<McpServerDetailView> {
    return this.readDetail(tenant, await this.findExisting(tenant, name));
  }

  @Put(':name')
  @ApiOperation({ summary: 'Replaces an MCP server; its pinned tools stay unchanged.' })
  @ApiOkResponse({ type: McpServerView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'MCP server not found')
  @ApiProblem(409, 'The server comes from the file of the operator.')
  @ApiProblem(422, 'Only the file of the operator may start programs.')
  async replaceMcpServer(
    @Param('name') name: string,
    @Body() body: McpReplacementBody,
    @Caller() { tenant }: Caller,
  ): Promise<McpServerView> {
    await this.assertEditable(tenant, name);
    assertCallable(this.http, body.url, 'url');
    const replaced = await this.servers.replaceServer(tenant, name, body.server);
    if (!replaced) throw unknownServer();
    return mcpServerView(replaced);
  }

  @Delete(':name')
  @HttpCode(204)
  @ApiOperation({ summary: 'Deletes an MCP server and its pinned tools.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'MCP server not found')
  @ApiProblem(409, 'The server comes from the file of the operator.')
  async deleteMcpServer(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<void> {
    await this.assertEditable(tenant, name);
    if (!(await this.servers.delete(tenant, name))) throw unknownServer();
    await this.pins.deletePin(tenant, name);
  }

  @Post(':name/accept')
  @HttpCode(200)
  @ApiOperation({ summary: 'Accepts the tools that were seen: they become the pinned tools, and none is blocked.' })
  @ApiOkResponse({ type: McpServerDetailView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'MCP server not found')
  @ApiProblem(409, 'No such change waits to be accepted.')
  async acceptMcpServer(
    @Param('name') name: string,
    @Body() { hash }: McpAcceptBody,
    @Caller() { tenant, owner }: Caller,
  ): Promise<McpServerDetailView> {
    const server = await this.findExisting(tenant, name);
    if (!(await this.pins.acceptSeen(tenant, name, hash, owner))) {
      throw new ProblemError(409, 'No such change waits to be accepted: the tools may have changed again');
    }
    return this.readDetail(tenant, server);
  }

  private async readDetail(tenant: string, server: McpServer): Promise<McpServerDetailView> {
    const { signal } = new AbortController();
    const found = await this.tools.lookUpServer(tenant, server, signal, { refresh: true, withinMs: LONGEST_LOOK_MS });
    return mcpServerDetail(server, found);
  }

  /** Returns the server of a name. @throws ProblemError 404 */
  private async findExisting(tenant: string, name: string): Promise<McpServer> {
    const server = MCP_SERVER_NAME.test(name) ? await this.servers.get(tenant, name) : undefined;
    if (!server) throw unknownServer();
    return server;
  }

  /** Rejects a server that does not exist (404), or that comes from the operator's file (409). @throws ProblemError */
  private async assertEditable(tenant: string, name: string): Promise<void> {
    const { source } = await this.findExisting(tenant, name);
    if (source === 'file') throw new ProblemError(409, `the MCP server "${name}" comes from the file of the operator`);
  }
}

function unknownServer(): ProblemError {
  return new ProblemError(404, 'MCP server not found');
}
