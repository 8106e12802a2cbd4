import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller } from '#libs/access';
import { ApiProblem, cutPage, malformedRequest, namedPage, ProblemError } from '#libs/http';
import { OutboundHttp } from '#libs/outbound';
import { MCP_SERVER_NAME } from '#libs/service';
import type { FastifyReply } from 'fastify';
import { McpServerTools } from '../mcp-server-tools.js';
import { ToolPins } from '../pins/tool-pins.js';
import type { McpServer } from '../servers/mcp-server.js';
import { McpServers } from '../servers/mcp-servers.js';
import { McpAcceptBody } from './mcp-accept-body.js';
import { McpReplacementBody, McpServerBody } from './mcp-server-body.js';
import { McpServerQuery } from './mcp-server-query.js';
import { mcpServerDetail, McpServerDetailView, McpServerListView, McpServerView, mcpServerView } from './mcp-views.js';

const LONGEST_LOOK_MS = 15_000;

/** Manages the MCP servers whose tools may be called: the tenant's own, and those of the operator's file. */
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
  @ApiOperation({ summary: 'Keeps a new MCP server.' })
  @ApiCreatedResponse({ type: McpServerView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(409, 'There is a server of this name.')
  @ApiProblem(
    422,
    'A program is started only from the file of the operator; or the tenant keeps as many servers as it may.',
  )
  async createMcpServer(
    @Body() body: McpServerBody,
    @Caller() { tenant }: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<McpServerView> {
    const { name } = body;
    this.requirePermitted(body);
    const created = this.servers.isOfFile(name)
      ? undefined
      : await this.servers.createServer(tenant, name, body.server);
    if (!created) throw new ProblemError(409, `the MCP server "${name}" exists already`);
    void reply.header('location', `/api/mcp-servers/${name}`);
    return mcpServerView(created);
  }

  @Get()
  @ApiOperation({ summary: 'All MCP servers, by name, with what is known of them.' })
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
  @ApiOperation({ summary: 'One MCP server, asked now: its tools, and what has changed since they were pinned.' })
  @ApiOkResponse({ type: McpServerDetailView })
  @ApiProblem(404, 'MCP server not found')
  async getMcpServer(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<McpServerDetailView> {
    return this.readDetail(tenant, await this.findExisting(tenant, name));
  }

  @Put(':name')
  @ApiOperation({ summary: 'Replaces an MCP server. Its tools stay pinned as they are.' })
  @ApiOkResponse({ type: McpServerView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'MCP server not found')
  @ApiProblem(409, 'It is one of the file of the operator.')
  @ApiProblem(422, 'A program is started only from the file of the operator.')
  async replaceMcpServer(
    @Param('name') name: string,
    @Body() body: McpReplacementBody,
    @Caller() { tenant }: Caller,
  ): Promise<McpServerView> {
    await this.assertEditable(tenant, name);
    this.requirePermitted(body);
    const replaced = await this.servers.replaceServer(tenant, name, body.server);
    if (!replaced) throw unknownServer();
    return mcpServerView(replaced);
  }

  @Delete(':name')
  @HttpCode(204)
  @ApiOperation({ summary: 'Deletes an MCP server, and what was pinned of it.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'MCP server not found')
  @ApiProblem(409, 'It is one of the file of the operator.')
  async deleteMcpServer(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<void> {
    await this.assertEditable(tenant, name);
    if (!(await this.servers.delete(tenant, name))) throw unknownServer();
    await this.pins.deletePin(tenant, name);
  }

  @Post(':name/accept')
  @HttpCode(200)
  @ApiOperation({ summary: 'Accepts the tools as they were seen: they are pinned from now on, and none is blocked.' })
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

  /** @throws ProblemError 404 */
  private async findExisting(tenant: string, name: string): Promise<McpServer> {
    const server = MCP_SERVER_NAME.test(name) ? await this.servers.get(tenant, name) : undefined;
    if (!server) throw unknownServer();
    return server;
  }

  /** Throws unless the server may be changed by the API. @throws ProblemError 404, 409 */
  private async assertEditable(tenant: string, name: string): Promise<void> {
    const { source } = await this.findExisting(tenant, name);
    if (source === 'file') throw new ProblemError(409, `the MCP server "${name}" is one of the file of the operator`);
  }

  /** Rejects an address that is known to be refused, without a DNS lookup. @throws ProblemError 400 */
  private requirePermitted({ url }: McpServerBody): void {
    if (this.http.mayPermit(new URL(url))) return;
    throw malformedRequest({ path: 'url', detail: 'must not be an address that this service does not call' });
  }
}

function unknownServer(): ProblemError {
  return new ProblemError(404, 'MCP server not found');
}
