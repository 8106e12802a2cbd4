export {
  matchesGlob,
  type McpCallOptions,
  McpServerError,
  type McpTool,
  type McpToolResult,
  McpTools,
} from './mcp-tools.js';
export { McpServers } from './servers/mcp-servers.js';
export { McpClientModule } from './mcp-client.module.js';
export { MCP_MIGRATIONS } from './servers/mcp-server-table.js';
export { findMcpServerProblems } from './api/mcp-server-kind.js';
