import type { JsonObject, JsonValue } from '#libs/protocol';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { findAgentToolProblems } from './workflow-check.js';

const KNOWN = ['poet', 'workflows/poet/nodes/a', 'conversations'];

function problems(tools: JsonValue, together?: string[], approve: JsonValue = []) {
  const asked: string[] = [];
  const references = {
    problemOf: async (reference: string) => {
      asked.push(reference);
      return KNOWN.includes(reference) ? undefined : `there is no agent "${reference}"`;
    },
  };
  const servers = { has: async (_tenant: string, name: string) => name === 'nodes' };
  const body = { nodes: [{ id: 'inner', type: 'agent', config: { tools, approve } }], edges: [] };
  const definition: WorkflowDefinition = {
    name: 'w',
    nodes: [
      { id: 'a', type: 'agent', config: { tools, approve } },
      { id: 'b', type: 'workflow', config: { body } },
      { id: 'c', type: 'set', config: { tools } },
    ],
    edges: [],
  };
  const named = { references, servers, tenant: 't', ...(together && { together: new Set(together) }) };
  return findAgentToolProblems(definition, named).then((found) => ({ found, asked }));
}

describe('agents that a definition names as tools', () => {
  it('are problems where they are not there, each with its place, also inside of a node', async () => {
    const { found } = await problems(['agent:poet', 'calculator', { agent: 'gone' }, 'agent:conversations']);
    expect(found).toEqual(
      [
        ['a', 'nodes[0].config.tools[2]'],
        ['b', 'nodes[1].config.body.nodes[0].config.tools[2]'],
      ].map(([node, path]) => ({
        severity: 'error',
        code: 'UNKNOWN_AGENT',
        path,
        detail: `agent node "${node}": there is no agent "gone"`,
        node,
      })),
    );
  });

  it('are problems where those that are told of the end of a conversation are not there', async () => {
    const { found } = await problems([{ agent: 'poet', talk: { announce: 'gone' } }]);
    expect(found.map(({ path }) => path)).toEqual([
      'nodes[0].config.tools[0].talk.announce',
      'nodes[1].config.body.nodes[0].config.tools[0].talk.announce',
    ]);
    const elsewhere = [{ agent: 'poet', talk: { announce: 'https://a.example' } }];
    expect((await problems(elsewhere)).found).toEqual([]);
  });

  it('are not looked up where they are elsewhere, or are saved together with it', async () => {
    const tools = [
      'agent:https://a.example',
      'agent:new',
      'agent:/a2a/workflows/new/nodes/x',
      'agent:workflows/w/nodes/c',
    ];
    expect(await problems(tools, ['new'])).toEqual({ found: [], asked: [] });
    expect((await problems(tools)).found).toHaveLength(4);
  });
});

describe('tools that are named as agents are', () => {
  it('are warnings where no MCP server has this name, with the name to write', async () => {
    const { found, asked } = await problems(['workflows/poet', 'nodes/look', 'calculator']);
    const detail =
      '"workflows/poet" names a tool of an MCP server "workflows", which does not exist; name an agent as "agent:workflows/poet"';
    expect(found).toEqual(
      [
        ['a', 'nodes[0].config.tools[0]'],
        ['b', 'nodes[1].config.body.nodes[0].config.tools[0]'],
      ].map(([node, path]) => ({
        severity: 'warning',
        code: 'UNKNOWN_TOOL_SERVER',
        path,
        detail: `agent node "${node}": ${detail}`,
        node,
      })),
    );
    expect(asked).toEqual([]);
  });

  it('are warnings in approve, whose calls would be made without a question', async () => {
    const { found } = await problems(['agent:poet'], [], ['workflows/poet', 'nodes/*']);
    const advice = 'name an agent as "agent:workflows/poet"';
    expect(found.map(({ path, detail }) => [path, detail])).toEqual([
      ['nodes[0].config.approve[0]', expect.stringContaining(advice)],
      ['nodes[1].config.body.nodes[0].config.approve[0]', expect.stringContaining(advice)],
    ]);
  });
});

describe('objects that a definition names', () => {
  const body = { nodes: [{ id: 'deep', type: 'agent', config: { model: 'gone' } }], edges: [] };
  const definition: WorkflowDefinition = {
    name: 'w',
    nodes: [
      { id: 'a', type: 'agent', config: { model: 'large', fallbacks: ['gone', '${inputs.x}'], tools: ['docs/find'] } },
      { id: 'b', type: 'tool', config: { tool: 'docs/find' } },
      { id: 'c', type: 'workflow', config: { body } },
      { id: 'd', type: 'external', config: { agent: 'desk' } },
      { id: 'e', type: 'tool', config: { tool: 'calculator' } },
    ],
    edges: [],
  };

  async function warnings(...together: string[]): Promise<string[]> {
    const problemOf = async (): Promise<string> => 'there is no such agent';
    const asked: [string, boolean][] = [];
    const found = await findAgentToolProblems(definition, {
      references: { problemOf },
      servers: { has: async () => false },
      models: {
        has: async (_tenant, name, hasOthers) => {
          asked.push([name, hasOthers]);
          return name === 'large';
        },
        hasPrice: async () => true,
      },
      tenant: 't',
      together: new Set(together),
    });
    expect(new Set(asked.map(([, hasOthers]) => hasOthers)).size).toBeLessThan(2);
    expect(asked.filter(([name]) => name === 'gone').length).toBeLessThan(2);
    return found.map(({ severity, code, path, detail }) => `${severity} ${code} ${path} ${detail}`);
  }

  it('are warnings if they do not exist, also inside of a node', async () => {
    expect(await warnings()).toEqual([
      'warning UNKNOWN_MODEL nodes[0].config.fallbacks[0] agent node "a": there is no model "gone"',
      'warning UNKNOWN_MODEL nodes[2].config.body.nodes[0].config.model agent node "c": there is no model "gone"',
      'warning UNKNOWN_TOOL_SERVER nodes[0].config.tools[0] agent node "a": there is no MCP server "docs"',
      'warning UNKNOWN_TOOL_SERVER nodes[1].config.tool tool node "b": there is no MCP server "docs"',
      'warning UNKNOWN_REGISTERED_AGENT nodes[3].config.agent external node "d": there is no registered agent "desk"',
    ]);
  });

  it('are errors if they have no price and a budget limits the cost, the default model too', async () => {
    const agent = (id: string, config: JsonObject) => ({ id, type: 'agent', config });
    const body = { nodes: [agent('x', { model: 'free' })] };
    const nodes = [
      agent('a', { model: 'priced', fallbacks: ['free', 'new'] }),
      agent('b', {}),
      { id: 'c', type: 'workflow', config: { body } },
    ];
    const find = async (budget: WorkflowDefinition['budget']): Promise<string[]> => {
      const found = await findAgentToolProblems(
        { name: 'w', nodes, edges: [], ...(budget && { budget }) },
        {
          references: { problemOf: async () => undefined },
          models: { has: async () => true, hasPrice: async (_tenant, name) => name === 'priced' },
          tenant: 't',
          together: new Set(['models/new']),
        },
      );
      return found.map(({ severity, code, path, detail }) => `${severity} ${code} ${path} ${detail}`);
    };
    const because = 'has no price, which budget.usd needs';
    expect(await find({ usd: 1 })).toEqual([
      `error UNPRICED_MODEL nodes[0].config.fallbacks[0] agent node "a": the model "free" ${because}`,
      `error UNPRICED_MODEL nodes[1].config.model agent node "b": the default model ${because}`,
      `error UNPRICED_MODEL nodes[2].config.body.nodes[0].config.model agent node "c": the model "free" ${because}`,
    ]);
    expect(await find({ tokens: 1 })).toEqual([]);
    expect(await find(undefined)).toEqual([]);
  });

  it('are found if they are saved together with it', async () => {
    expect(await warnings('models/gone', 'mcp-servers/docs', 'agents/desk')).toEqual([]);
  });
});
