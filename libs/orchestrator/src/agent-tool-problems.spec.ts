import type { JsonValue } from '#libs/protocol';
import { unknownAgentTools } from './agent-tool-problems.js';
import type { WorkflowDefinition } from './workflow.js';

const KNOWN = ['poet', 'workflows/poet/nodes/a', 'conversations'];

function problems(tools: JsonValue, together?: string[]) {
  const asked: string[] = [];
  const references = {
    problemOf: async (reference: string) => {
      asked.push(reference);
      return KNOWN.includes(reference) ? undefined : `there is no agent "${reference}"`;
    },
  };
  const body = { nodes: [{ id: 'inner', type: 'agent', config: { tools } }], edges: [] };
  const definition: WorkflowDefinition = {
    name: 'w',
    nodes: [
      { id: 'a', type: 'agent', config: { tools } },
      { id: 'b', type: 'workflow', config: { body } },
      { id: 'c', type: 'set', config: { tools } },
    ],
    edges: [],
  };
  const named = { references, tenant: 't', ...(together && { together: new Set(together) }) };
  return unknownAgentTools(definition, named).then((found) => ({ found, asked }));
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
