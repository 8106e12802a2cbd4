import { appendFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { callTool, listedTools } from './mcp-test-tools.mjs';

/** An MCP server over stdio, of both eras. `MCP_STARTS` names a file that has a line for each start. */
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
