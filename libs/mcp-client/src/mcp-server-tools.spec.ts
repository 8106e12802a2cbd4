import { AgentCallError } from '#libs/a2a-client';
import type { McpConnections } from './connection/mcp-connections.js';
import { McpServerTools } from './mcp-server-tools.js';
import type { McpServerEntry } from '#libs/service';
import type { McpServers } from './servers/mcp-servers.js';
import type { ToolWatch } from './pins/tool-watch.js';

const SERVER: McpServerEntry = { name: 'notes', at: { url: 'https://mcp.test/', auth: 'crm' } };
const OPTIONS = { tenant: 't', owner: 'o', signal: new AbortController().signal };
const TOOL = { name: 'read', description: '', inputSchema: {}, annotations: {} };

/** Creates the tools of a server whose tool list (`list`) or tool calls (`call`) fail with this error. */
function toolsOf(failure: unknown, fails: 'list' | 'call'): McpServerTools {
  const given = async (failing: boolean): Promise<object> => {
    if (failing) throw failure;
    return { tools: [], skipped: [] };
  };
  const connection = { listTools: () => given(fails === 'list'), callServerTool: () => given(true) };
  const known = { tools: [{ definition: TOOL }] };
  return new McpServerTools(
    { forCall: async () => SERVER } as unknown as McpServers,
    { connectionFor: () => connection } as unknown as McpConnections,
    { recallServer: async () => known, compareSeen: async () => known } as unknown as ToolWatch,
  );
}

const FOR_MODEL = 'the MCP server "notes" cannot be called now: its credential';

describe('a call of a tool whose server needs a credential', () => {
  it.each(['list', 'call'] as const)('names it in the error, and not in what models read: at a %s', async (fails) => {
    const missing = new AgentCallError('credential', 'there is no credential "crm"');
    expect(await toolsOf(missing, fails).callMcpTool('notes/read', {}, OPTIONS)).toEqual({
      error: expect.stringContaining('there is no credential "crm"'),
      errorForModel: `${FOR_MODEL} is missing or cannot be used`,
    });
    const passing = new AgentCallError('connect', 'credential "crm": no connection', { ofCredential: true });
    const wrapped = new Error('fetch failed', { cause: passing });
    expect(await toolsOf(wrapped, fails).callMcpTool('notes/read', {}, OPTIONS)).toEqual({
      error: expect.stringContaining('credential "crm"'),
      errorForModel: `${FOR_MODEL} cannot be used for the moment`,
    });
  });

  it('has one error where something else is wrong', async () => {
    const other = new AgentCallError('connect', 'no connection');
    const { error, ...more } = (await toolsOf(other, 'list').callMcpTool('notes/read', {}, OPTIONS)) as {
      error: string;
    };
    expect([error, more]).toEqual(['the MCP server "notes" is unavailable: no connection', {}]);
  });
});
