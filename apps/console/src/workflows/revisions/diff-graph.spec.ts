import { changedEdgeLook } from '../../graph/change-look.js';
import { edgeLooks } from '../../graph/edge-look.js';
import type { Graph, GraphNode } from '../../graph/graph.js';
import { diffGraph } from './diff-graph.js';

const node = (id: string, x?: number): GraphNode => ({
  id,
  type: 'agent',
  config: {},
  ...(x !== undefined && { position: { x, y: 0 } }),
});

const BEFORE: Graph = { nodes: [node('a', 0), node('gone', 1000)], edges: [{ from: 'a', to: 'gone' }] };
const AFTER: Graph = { nodes: [node('a', 0), node('new', 500)], edges: [{ from: 'a', to: 'new' }] };
const DIFF = {
  nodes: [
    { id: 'new', type: 'agent', change: 'added' as const, fields: [] },
    { id: 'gone', type: 'agent', change: 'removed' as const, fields: [] },
  ],
  edges: [
    { from: 'a', to: 'new', change: 'added' as const, index: 0, fields: [] },
    { from: 'a', to: 'gone', change: 'removed' as const, index: 0, fields: [] },
  ],
};

describe('diffGraph', () => {
  it('shows the later revision with the removed nodes and edges, each marked', () => {
    const { graph, nodeOf, edgeOf } = diffGraph(BEFORE, AFTER, DIFF);
    expect(graph.nodes.map(({ id, position }) => [id, position?.x])).toEqual([
      ['a', 0],
      ['new', 500],
      ['gone', 1000],
    ]);
    expect(graph.edges).toEqual([
      { from: 'a', to: 'new' },
      { from: 'a', to: 'gone' },
    ]);
    expect([nodeOf('a'), nodeOf('new')['change'], nodeOf('gone').badges?.[0]?.text]).toEqual([
      {},
      'added',
      '− removed',
    ]);
    expect([edgeOf(0), edgeOf(1)]).toEqual([{ change: 'added' }, { change: 'removed' }]);
  });

  it('gives up positions where a removed node would lie on another', () => {
    const { graph } = diffGraph({ ...BEFORE, nodes: [node('a', 0), node('gone', 510)] }, AFTER, DIFF);
    expect(graph.nodes.every(({ position }) => position === undefined)).toBe(true);
  });

  it('says the difference of an edge in words as well', () => {
    const [look] = edgeLooks(AFTER);
    expect(look && changedEdgeLook(look, 'removed')).toMatchObject({
      label: '− removed',
      dash: '7 5',
      sentence: 'From a to new, removed',
    });
    expect(look && changedEdgeLook(look, undefined)).toBe(look);
  });
});
