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

  override async findTools(patterns: readonly string[], caller: ToolCaller): Promise<AgentTool[]> {
    const own = await this.own.findTools(
      patterns.filter((it) => !it.includes('/')),
      caller,
    );
    const globs = patterns.filter((it) => it.includes('/'));
    return globs.length === 0 ? own : [...own, ...(await this.findServerTools(globs, caller))];
  }

  private async findServerTools(globs: readonly string[], caller: ToolCaller): Promise<AgentTool[]> {
    try {
      return (await this.mcp.findMcpTools(globs, caller)).map((tool) => this.toAgentTool(tool));
    } catch (error) {
      throw error instanceof McpServerError ? new NodeFailure(error.message, { cause: error }) : error;
    }
  }

  private toAgentTool({ name, description, inputSchema, readOnly, idempotent, needsApproval }: McpTool): AgentTool {
    const callOnServer: AgentTool['invokeTool'] = (args, caller) => this.mcp.callMcpTool(name, args, caller);
    return {
      name,
      description,
      inputSchema,
      repeatable: readOnly || idempotent,
      needsApproval,
      invokeTool: callOnServer,
    };
  }
}
