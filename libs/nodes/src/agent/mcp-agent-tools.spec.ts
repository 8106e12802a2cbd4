import { type McpCallOptions, McpServerError, type McpTool, type McpToolResult, McpTools } from '#libs/mcp-client';
import type { JsonObject } from '#libs/protocol';
import { asks, says } from '../testing/fake-models.js';
import { agentWith, lastWord, payloads } from '../testing/noted-agent.js';
import { Calculator } from '../tools/built-in-tools.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import { BuiltInTools, ToolsWithServers } from './agent-tools.js';

const TOOL: McpTool = {
  name: 'notes/write.line',
  description: 'Writes',
  inputSchema: { type: 'object' },
  readOnly: false,
  idempotent: false,
  needsApproval: false,
};

/** Fake MCP client with one server that has one tool. */
class NotesServer extends McpTools {
  readonly calls: [name: string, args: JsonObject, owner: string][] = [];

  constructor(
    private readonly tool: McpTool = TOOL,
    private readonly outcome: McpToolResult = { result: 'written' },
  ) {
    super();
  }

  override async findMcpTools(patterns: readonly string[]): Promise<McpTool[]> {
    if (!patterns.every((it) => it.startsWith('notes/'))) throw new McpServerError('there is no MCP server "files"');
    return [this.tool];
  }

  override async callMcpTool(name: string, args: JsonObject, { owner }: McpCallOptions): Promise<McpToolResult> {
    this.calls.push([name, args, owner]);
    return this.outcome;
  }

  override patternProblem(): undefined {
    return undefined;
  }
}

function agent(server: NotesServer, config: JsonObject) {
  const tools = new ToolsWithServers(new BuiltInTools(new ToolRegistry([new Calculator()])), server);
  return agentWith(
    tools,
    (call) => (call.messages.at(-1)?.role === 'tool' ? says('done') : asks(call, ['notes__write_line', { line: 'x' }])),
    config,
  );
}

describe('tools of MCP servers', () => {
  it('are offered beside the built-in ones, and called by the names that they have there', async () => {
    const server = new NotesServer(TOOL, { result: 'x'.repeat(10), truncated: true });
    const { driver, models } = agent(server, { tools: ['calculator', 'notes/*'] });
    await driver.run();
    expect(lastWord(driver)).toBe('done');
    expect(models.calls[0]?.call.tools?.map(({ name }) => name)).toEqual(['calculator', 'notes__write_line']);
    expect(server.calls).toEqual([['notes/write.line', { line: 'x' }, '']]);
    expect(payloads(driver, 'tool.call')).toMatchObject([{ tool: 'notes/write.line', args: { line: 'x' } }]);
    expect(payloads(driver, 'tool.result')).toEqual([
      { tool: 'notes/write.line', id: 'c0', result: 'xxxxxxxxxx', truncated: true },
    ]);
  });

  const block = { type: 'text', text: 'x' };
  const more = '[There was more: this result was cut.]';
  it.each<[string, McpToolResult, JsonObject]>([
    ['a text', { result: 'x', truncated: true }, { result: `x\n${more}` }],
    ['a list', { result: [block], truncated: true }, { result: [block, more] }],
    ['an error', { error: 'x', truncated: true }, { error: `x\n${more}` }],
    ['what is whole', { result: [block] }, { result: [block] }],
  ])('tell a model that a result was cut, and nobody else: %s', async (_, outcome, read) => {
    const { driver, models } = agent(new NotesServer(TOOL, outcome), { tools: ['notes/*'] });
    await driver.run();
    expect(models.calls.at(-1)?.call.messages.at(-1)).toMatchObject({ role: 'tool', results: [{ id: 'c0', ...read }] });
    expect(payloads(driver, 'tool.result')).toEqual([{ tool: 'notes/write.line', id: 'c0', ...outcome }]);
  });

  it('tell a model that a credential is missing without its name, which callers read', async () => {
    const error = 'the MCP server "notes" is away: there is no credential "crm"';
    const errorForModel = 'the MCP server "notes" cannot be called now: its credential is missing or cannot be used';
    const { driver, models } = agent(new NotesServer(TOOL, { error, errorForModel }), { tools: ['notes/*'] });
    await driver.run();
    expect(models.calls.at(-1)?.call.messages.at(-1)).toMatchObject({ results: [{ id: 'c0', error: errorForModel }] });
    expect(payloads(driver, 'tool.result')).toEqual([{ tool: 'notes/write.line', id: 'c0', error }]);
  });

  it('are asked about where their server wants that', async () => {
    const server = new NotesServer({ ...TOOL, needsApproval: true });
    const { driver } = agent(server, { tools: ['notes/*'] });
    await driver.run();
    expect(driver.state).toBe('input_required');
    expect(server.calls).toEqual([]);
  });

  it.each([
    ['is asked about', {}, 1, 'input_required'],
    ['is made again where it only reads', { readOnly: true }, 2, 'completed'],
    ['is made again where it may be', { idempotent: true }, 2, 'completed'],
  ])('whose call was cut off %s', async (_, hints, made, state) => {
    const server = new NotesServer({ ...TOOL, ...hints });
    const { driver } = agent(server, { tools: ['notes/*'] });
    await driver.run(5);
    await driver.run();
    expect(server.calls).toHaveLength(made);
    expect(driver.state).toBe(state);
  });

  it('fail the node by name where there is no such server', async () => {
    const { driver } = agent(new NotesServer(), { tools: ['files/*'] });
    await driver.run();
    expect(lastWord(driver)).toBe('Error: there is no MCP server "files"');
  });
});
