import { appendFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { callTool, listedTools } from './mcp-test-tools.mjs';

/** MCP server over stdio, of both eras. It appends a line to the file `MCP_STARTS` at each start. */
if (process.env.MCP_STARTS) appendFileSync(process.env.MCP_STARTS, `${process.pid}\n`);
process.stderr.write('started\n');

serveStdio(() => {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: listedTools() }));
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
    callTool(params.name, params.arguments, mcpReq?.signal),
  );
  return server;
});
