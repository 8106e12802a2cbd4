import { appendFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { callTool, listedTools } from './mcp-test-tools.mjs';

/** MCP server over stdio, of the era `legacy`. With `MCP_STRICT` it exits at any request before `initialize`. */
if (process.env.MCP_STARTS) appendFileSync(process.env.MCP_STARTS, `${process.pid}\n`);

const server = new Server({ name: 'test-v1', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listedTools() }));
server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) =>
  callTool(params.name, params.arguments, signal),
);
const transport = new StdioServerTransport();
await server.connect(transport);
if (process.env.MCP_STRICT) {
  const { onmessage } = transport;
  let initialized = false;
  transport.onmessage = (message) => {
    initialized ||= message.method === 'initialize';
    if (!initialized) process.exit(3);
    onmessage(message);
  };
}
