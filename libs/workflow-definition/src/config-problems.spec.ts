import { type NodeProblem, NodeTypes } from '#libs/agents';
import { SharedUse } from '#libs/expressions';
import { findConfigProblems } from './node-rules.js';

class AnyConfig extends NodeTypes {
  override readonly names = ['agent', 'set'];

  override createExecutor(): never {
    throw new Error('Nothing runs');
  }

  override findProblems(): NodeProblem[] {
    return [];
  }
}

describe('an agent node that names itself as a tool', () => {
  const found = (type: string, ...tools: string[]) =>
    findConfigProblems(
      { name: 'w', nodes: [{ id: 'a', type, config: { tools } }], edges: [] },
      new AnyConfig(),
      new SharedUse(),
    );

  it.each(['agent:w', 'agent:workflows/w', 'agent:/a2a/workflows/w/', 'agent:workflows/w/nodes/a'])(
    'is refused as %s',
    (tool) => {
      expect(found('agent', 'agent:other', tool)).toEqual([
        {
          severity: 'error',
          code: 'INVALID_CONFIG',
          path: 'nodes[0].config.tools[1]',
          detail: 'agent node "a": tools[1] must not be the node itself, or its own workflow',
          node: 'a',
        },
      ]);
    },
  );

  it('is not confused with others, nor with nodes that are no agents', () => {
    expect(found('agent', 'agent:w2', 'agent:workflows/w/nodes/b', 'w/x', 'agent:https://a.example/w')).toEqual([]);
    expect(found('set', 'agent:w')).toEqual([]);
  });
});
