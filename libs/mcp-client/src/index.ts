export { matchesGlob } from './glob.js';
export { type McpCallOptions, McpServerError, type McpTool, type McpToolResult, McpTools } from './mcp-tools.js';
export { McpServers } from './servers/mcp-servers.js';
export { McpClientModule } from './mcp-client.module.js';
export { MCP_MIGRATIONS } from './mcp-migrations.js';
