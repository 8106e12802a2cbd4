import { countProblems, draftProblems } from './draft-problems.js';

const draft = { nodes: [], edges: [{ from: 'a', to: 'b' }] };

describe('draftProblems', () => {
  it('sorts problems by the node, the edge, or the whole that they are about', () => {
    const { nodes, edges, fields, rest } = draftProblems(
      [
        { path: 'nodes[1]', detail: 'external node "x": missing endpoint_url config' },
        { path: 'nodes[1].id', detail: 'must be a string' },
        { path: 'edges[0].to', detail: 'build DAG: edge references unknown node: b' },
        { path: 'name', detail: 'must be a string' },
        { path: 'onExit[0].node', detail: 'names an unknown node' },
        { path: 'edges', detail: 'build DAG: cycle detected' },
      ],
      draft,
    );
    expect(nodes.get(1)).toEqual(['external node "x": missing endpoint_url config', 'id must be a string']);
    expect(edges.get('a->b')).toEqual(['build DAG: edge references unknown node: b']);
    expect([...fields]).toEqual([
      ['name', ['name must be a string']],
      ['onExit', ['names an unknown node']],
    ]);
    expect(rest).toEqual(['build DAG: cycle detected']);
  });

  it('says where in an expression, and finds the second edge between two nodes', () => {
    const twins = { nodes: [{ id: 'a', type: 'agent', config: {} }], edges: [...draft.edges, ...draft.edges] };
    const found = draftProblems(
      [
        { path: 'edges[1].when', detail: 'undeclared reference to "x"', edge: 1, offset: 4 },
        { path: 'onExit[0].node', detail: 'runs nowhere', node: 'a' },
      ],
      twins,
    );
    expect(found.edges.get('a->b#2')).toEqual(['undeclared reference to "x" (when, character 5)']);
    expect(found.nodes.get(0)).toEqual(['runs nowhere']);
    expect(countProblems(found)).toBe(2);
  });
});
