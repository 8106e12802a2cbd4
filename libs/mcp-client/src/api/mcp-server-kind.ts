import { Injectable } from '@nestjs/common';
import { ConfigurationKinds, type ConfigurationObject, TableKind, type WantedObject } from '#libs/configuration';
import { OutboundHttp } from '#libs/http-client';
import { assertCallable, malformedRequest, ProblemError, readBody } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import { ToolPins } from '../pins/tool-pins.js';
import { McpServers, MOST_MCP_SERVERS } from '../servers/mcp-servers.js';
import { McpServerBody } from './mcp-servers.controller.js';

/** Kind `mcp-server` of the objects that files describe (see libs/configuration): the MCP servers of a tenant. */
@Injectable()
export class McpServerKind extends TableKind {
  readonly kind = 'mcp-server';
  readonly rank = 30;
  protected readonly table = 'mcp_server';
  protected readonly columns = ['url', 'auth', 'allow', 'approve'];
  protected readonly most = MOST_MCP_SERVERS;
  protected readonly plural = 'MCP servers';

  constructor(
    private readonly servers: McpServers,
    private readonly pins: ToolPins,
    private readonly http: OutboundHttp,
    kinds: ConfigurationKinds,
  ) {
    super();
    kinds.addKind(this);
  }

  override readObject(sent: JsonObject): ConfigurationObject {
    const { name, url, auth, allow, approve } = readBody(McpServerBody, sent);
    assertCallable(this.http, url, 'url');
    if (this.servers.isOfFile(name))
      throw malformedRequest({ path: 'name', detail: 'is that of a server in the file of the operator' });
    return { id: name, name, definition: definitionOf({ url, auth, allow, approve }) };
  }

  override async finishChange(tenant: string, { name }: ConfigurationObject, isDeleted: boolean): Promise<void> {
    if (isDeleted) await this.pins.deletePin(tenant, name);
  }

  protected override toColumns({ definition }: WantedObject): Record<string, unknown> {
    const { url, auth = null, allow = null, approve = null } = definition;
    return { url, auth, allow, approve };
  }

  protected override toDefinition(row: JsonObject): JsonObject {
    return definitionOf(row);
  }
}

function definitionOf({ url, auth, allow, approve }: Record<string, unknown>): JsonObject {
  const members = Object.entries({ url, auth, allow, approve });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined && value !== null)) as JsonObject;
}

/** Returns those problems of the definition of an MCP server that can be found without a running service. */
export function findMcpServerProblems(sent: object): { path: string; detail: string }[] {
  try {
    readBody(McpServerBody, sent);
    return [];
  } catch (error) {
    if (error instanceof ProblemError) return [...error.errors];
    throw error;
  }
}
