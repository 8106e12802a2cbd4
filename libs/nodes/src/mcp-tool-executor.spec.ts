import type { NodeSpec, RequestContext } from '#libs/agents';
import { McpServerError, type McpTool, type McpToolResult, McpTools } from '#libs/mcp-client';
import type { JsonObject } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { artifactParts, finalText, outline, played, turn } from './testing/turn.js';
import { ToolNode } from './tool-node.js';
import { ToolRegistry } from './tools/tool-registry.js';

/** Fake MCP client whose tool `write` answers as the test decides. It records the calls in order. */
class FakeMcp extends McpTools {
  readonly asked: unknown[] = [];

  constructor(
    private readonly answer: McpToolResult = { result: 'written' },
    private readonly tool: Partial<McpTool> | undefined = {},
  ) {
    super();
  }

  override async findMcpTools(patterns: readonly string[]): Promise<McpTool[]> {
    if (!this.tool) throw new McpServerError('never seen');
    const hints = { readOnly: false, idempotent: false, needsApproval: false };
    return patterns.map((name) => ({ name, description: '', inputSchema: {}, ...hints, ...this.tool }));
  }

  override async callMcpTool(name: string, args: JsonObject): Promise<McpToolResult> {
    this.asked.push(['call', name, args]);
    return this.answer;
  }

  override patternProblem(pattern: string): string | undefined {
    return pattern.includes('*') ? 'must name one tool' : undefined;
  }
}

const node: NodeSpec = { id: 'work', type: 'tool', config: { tool: 'files/write', args: { text: '{{text}}' } } };
const executorOf = (mcp: McpTools) => new ToolNode(new ToolRegistry([]), undefined, mcp).createExecutor(node);

/** Returns the context of a turn that an earlier execution began, with the first `events` events in its log. */
async function recovered(mcp: McpTools, events: number): Promise<RequestContext> {
  const first = (await played(executorOf(new FakeMcp()), turn('hello'))) as TaskEvent[];
  return turn('hello', { recovered: events, readTaskLog: async () => first.slice(0, events) });
}

it('calls the tool once, when the call is in the log', async () => {
  const mcp = new FakeMcp();
  const flush = async (): Promise<void> => void mcp.asked.push('flush');
  const events = await played(executorOf(mcp), turn('hello', { flush }));
  expect(mcp.asked).toEqual(['flush', ['call', 'files/write', { text: 'hello' }]]);
  expect(outline(events)).toEqual(['working', 'tool.call', 'tool.result', 'artifact', 'completed']);
  expect(artifactParts(events)).toMatchObject([{ text: 'written' }]);
});

it('fails with what the tool reports, which is in the log', async () => {
  const events = await played(executorOf(new FakeMcp({ error: 'the disk is full' })), turn('hello'));
  expect(outline(events)).toEqual(['working', 'tool.call', 'tool.result', 'failed']);
  expect(finalText(events)).toBe('Error: tool "files/write": the disk is full');
});

it('fails with the name of a missing credential, since no model reads it', async () => {
  const answer = { error: 'there is no credential "crm"', errorForModel: 'its credential is missing' };
  const events = await played(executorOf(new FakeMcp(answer)), turn('hello'));
  expect(finalText(events)).toBe('Error: tool "files/write": there is no credential "crm"');
  expect(JSON.stringify(events)).not.toContain('errorForModel');
});

describe('after a crash', () => {
  it.each([
    ['before the call was recorded', 1, {}],
    ['in the middle of a call that only reads', 2, { readOnly: true }],
    ['in the middle of a call that may be repeated', 2, { idempotent: true }],
  ])('%s it is made', async (_, count, tool) => {
    const mcp = new FakeMcp({ result: 'written' }, tool);
    const events = await played(executorOf(mcp), await recovered(mcp, count));
    expect(mcp.asked).toHaveLength(1);
    expect(outline(events)).toEqual(['working', 'tool.call', 'tool.result', 'artifact', 'completed'].slice(count));
  });

  it.each([
    ['that may do harm twice', {}],
    ['of a server that is not known any more', undefined],
  ])('in the middle of a call %s it is not made again', async (_, tool) => {
    const mcp = new FakeMcp({ result: 'written' }, tool);
    const events = await played(executorOf(mcp), await recovered(mcp, 2));
    expect(mcp.asked).toEqual([]);
    expect(finalText(events)).toBe(
      'Error: the call of the tool "files/write" was cut off: it is not known whether it was made',
    );
  });

  it.each([3, 4])('with the result recorded (%d events) it is not made again', async (count) => {
    const mcp = new FakeMcp({ result: 'another one' });
    const events = await played(executorOf(mcp), await recovered(mcp, count));
    expect(mcp.asked).toEqual([]);
    expect(outline(events)).toEqual(['artifact', 'completed'].slice(count - 3));
    expect(finalText(events)).toBe('written');
  });
});

test('tools of servers are known where there are servers', () => {
  const registry = new ToolRegistry([]);
  const problems = (tool: string, mcp?: McpTools) =>
    new ToolNode(registry, undefined, mcp).findProblems({ ...node, config: { tool } });
  expect(problems('files/write', new FakeMcp())).toEqual([]);
  expect(problems('files/*', new FakeMcp())).toEqual([
    { path: 'config.tool', detail: 'tool node "work": tool must name one tool' },
  ]);
  expect(problems('files/write')).toEqual([
    { path: 'config.tool', detail: 'tool node "work": unknown tool "files/write" (known: )' },
  ]);
});
