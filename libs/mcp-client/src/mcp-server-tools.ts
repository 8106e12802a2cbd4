import { Injectable } from '@nestjs/common';
import { withoutCredentialName } from '#libs/a2a-client';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { type JsonObject, textStart } from '#libs/protocol';
import { MCP_SERVER_NAME } from '#libs/service';
import { failureText } from './connection/failure-text.js';
import { McpConnections } from './connection/mcp-connections.js';
import {
  callResult,
  matchesAny,
  matchesGlob,
  type McpCallOptions,
  type McpFindOptions,
  McpServerError,
  type McpTool,
  type McpToolResult,
  McpTools,
  splitToolName,
} from './mcp-tools.js';
import { type ListedTools, SkippedLog, type SkippedTool } from './pins/tool-listing.js';
import type { KnownTool } from './pins/tool-pins.js';
import { type KnownServer, ToolWatch } from './pins/tool-watch.js';
import { type McpServer, McpServers } from './servers/mcp-servers.js';

/** State of an MCP server: its tools, and the reason if it is unreachable. */
export interface FoundServer {
  /** Last known state of the server's tools; `undefined` if the server was never reached. */
  known: KnownServer | undefined;
  /** Reason why the server is unreachable; absent if it answered. */
  away?: string;
  /** Error that `away` describes; absent like `away`. */
  cause?: unknown;
  /** Tools that the server lists and that cannot be offered; absent if it did not answer. */
  skipped?: SkippedTool[];
}

interface McpLookupOptions {
  /** True to ask the server for its tools even if its tools are cached. */
  refresh?: boolean;
  /**
   * Milliseconds without an answer before the server counts as unreachable; absent: the limits of a session apply.
   */
  withinMs?: number;
}

/** Finds and calls the tools of the MCP servers of a tenant. */
@Injectable()
export class McpServerTools extends McpTools {
  private readonly skippedLog = new SkippedLog();

  constructor(
    private readonly servers: McpServers,
    private readonly connections: McpConnections,
    private readonly watch: ToolWatch,
  ) {
    super();
  }

  override async findMcpTools(patterns: readonly string[], { tenant, signal }: McpFindOptions): Promise<McpTool[]> {
    const globs = Map.groupBy(patterns.map(splitToolName), ({ server }) => server);
    const found = [...globs].map(async ([name, wanted]) => {
      const server = await this.findCallableServer(tenant, name, signal);
      const { known, away } = await this.lookUpServer(tenant, server, signal);
      if (!known) throw new McpServerError(`the MCP server "${name}" was never reached: ${away}`);
      const tools = known.tools.filter(({ definition, blocked }) => !blocked && isAllowed(server, definition.name));
      return tools
        .filter(({ definition }) => wanted.some(({ tool }) => matchesGlob(tool, definition.name)))
        .map((tool) => toolOf(server, tool));
    });
    return (await Promise.all(found)).flat().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  override async callMcpTool(name: string, args: JsonObject, options: McpCallOptions): Promise<McpToolResult> {
    const { server: serverName, tool: toolName } = splitToolName(name);
    try {
      const server = await this.findCallableServer(options.tenant, serverName, options.signal);
      const { known, away, cause } = await this.lookUpServer(options.tenant, server, options.signal);
      if (away !== undefined || !known)
        throw new McpServerError(`the MCP server "${serverName}" is unavailable: ${away}`, { cause });
      return await this.callTool(server, callableTool(server, known, toolName), args, options);
    } catch (error) {
      if (!(error instanceof McpServerError)) throw error;
      const errorForModel = withoutCredentialName(error, `the MCP server "${serverName}"`);
      return { error: error.message, ...(errorForModel !== undefined && { errorForModel }) };
    }
  }

  /**
   * Returns the state of an MCP server. Its list of tools is at most 30 seconds old. For an unreachable server, the
   * last known tools are returned with the reason.
   */
  async lookUpServer(
    tenant: string,
    server: McpServer,
    signal: AbortSignal,
    how: McpLookupOptions = {},
  ): Promise<FoundServer> {
    const { name } = server;
    const listed = await this.askForTools(tenant, server, signal, how);
    if ('away' in listed) {
      return { known: await retryWhileDatabaseDown(() => this.watch.recallServer(tenant, name), signal), ...listed };
    }
    const { skipped, ...list } = listed.list;
    this.skippedLog.reportSkipped(tenant, name, skipped);
    return { known: await retryWhileDatabaseDown(() => this.watch.compareSeen(tenant, name, list), signal), skipped };
  }

  /** Calls a tool that `callableTool` has permitted. @throws McpServerError if the call fails */
  private async callTool(
    server: McpServer,
    { definition }: KnownTool,
    args: JsonObject,
    { tenant, signal, trace }: McpCallOptions,
  ): Promise<McpToolResult> {
    const connection = this.connections.connectionFor(tenant, server);
    try {
      return callResult(await connection.callServerTool(definition, args, { signal, ...(trace && { trace }) }));
    } catch (error) {
      signal.throwIfAborted();
      throw new McpServerError(`the MCP server "${server.name}" failed: ${failureText(error)}`, { cause: error });
    }
  }

  private async askForTools(
    tenant: string,
    server: McpServer,
    signal: AbortSignal,
    { refresh, withinMs }: McpLookupOptions,
  ): Promise<{ list: ListedTools } | { away: string; cause: unknown }> {
    const late = withinMs === undefined ? [] : [AbortSignal.timeout(withinMs)];
    try {
      const limit = AbortSignal.any([signal, ...late]);
      return {
        list: await this.connections.connectionFor(tenant, server).listTools(limit, { refresh: refresh === true }),
      };
    } catch (error) {
      signal.throwIfAborted();
      return { away: late[0]?.aborted ? 'timeout: no answer in time' : failureText(error), cause: error };
    }
  }

  /** Returns the MCP server with this name. @throws McpServerError if there is none */
  private async findCallableServer(tenant: string, name: string, signal: AbortSignal): Promise<McpServer> {
    const server = MCP_SERVER_NAME.test(name) ? await this.servers.forCall(tenant, name, signal) : undefined;
    if (!server) throw new McpServerError(`there is no MCP server "${textStart(name, 64)}"`);
    return server;
  }
}

/** Returns a tool of a server. @throws McpServerError if it does not exist, is not allowed, or is blocked */
function callableTool(server: McpServer, { tools }: KnownServer, name: string): KnownTool {
  const tool = tools.find(({ definition }) => definition.name === name);
  if (!tool) throw new McpServerError(`the MCP server "${server.name}" has no tool "${textStart(name, 128)}"`);
  if (!isAllowed(server, name)) throw new McpServerError(`the tool "${server.name}/${name}" is not allowed`);
  if (!tool.blocked) return tool;
  const text = `the tool "${server.name}/${name}" is not as it was, and the change is not accepted yet`;
  throw new McpServerError(text);
}

function isAllowed({ allow }: McpServer, tool: string): boolean {
  return allow === undefined || matchesAny(allow, tool);
}

function toolOf({ name: server, approve = [] }: McpServer, { definition }: KnownTool): McpTool {
  const { name, description, inputSchema, annotations } = definition;
  return {
    name: `${server}/${name}`,
    description,
    inputSchema,
    readOnly: annotations.readOnlyHint === true,
    idempotent: annotations.idempotentHint === true,
    needsApproval: matchesAny(approve, name),
  };
}
