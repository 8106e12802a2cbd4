import { type McpTool, McpServerError, type McpTools } from '#libs/mcp-client';
import { NodeFailure } from '../node-failure.js';
import { type AgentTool, AgentTools, type ToolCaller } from './agent-tools.js';

/** Tools of this process and of MCP servers. */
export class ToolsWithServers extends AgentTools {
  constructor(
    private readonly own: AgentTools,
    private readonly mcp: McpTools,
  ) {
    super();
  }

  override get builtIn(): readonly string[] {
    return this.own.builtIn;
  }

  override async find(patterns: readonly string[], caller: ToolCaller): Promise<AgentTool[]> {
    const own = await this.own.find(
      patterns.filter((it) => !it.includes('/')),
      caller,
    );
    const globs = patterns.filter((it) => it.includes('/'));
    return globs.length === 0 ? own : [...own, ...(await this.ofServers(globs, caller))];
  }

  private async ofServers(globs: readonly string[], caller: ToolCaller): Promise<AgentTool[]> {
    try {
      return (await this.mcp.find(globs, caller)).map((tool) => this.ofServer(tool));
    } catch (error) {
      throw error instanceof McpServerError ? new NodeFailure(error.message, { cause: error }) : error;
    }
  }

  private ofServer({ name, description, inputSchema, readOnly, idempotent, needsApproval }: McpTool): AgentTool {
    const call: AgentTool['call'] = (args, caller) => this.mcp.call(name, args, caller);
    return { name, description, inputSchema, repeatable: readOnly || idempotent, needsApproval, call };
  }
}
