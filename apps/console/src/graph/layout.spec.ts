import type { GraphEdge, Position } from './graph.js';
import { layout, placed } from './layout.js';

const node = (id: string) => ({ id, type: 'agent', config: {} });
const DIAMOND = {
  nodes: ['a', 'b', 'c', 'd'].map(node),
  edges: [
    { from: 'a', to: 'b' },
    { from: 'a', to: 'c' },
    { from: 'b', to: 'd' },
    { from: 'c', to: 'd' },
  ],
};

describe('layout', () => {
  it('goes from left to right, with what runs side by side in one column', () => {
    const at = layout(DIAMOND);
    const x = (id: string) => at.get(id)?.x ?? Number.NaN;
    expect(x('a')).toBeLessThan(x('b'));
    expect(x('b')).toBe(x('c'));
    expect(x('c')).toBeLessThan(x('d'));
    expect(at.get('b')?.y).not.toBe(at.get('c')?.y);
  });

  it('draws also what is not a valid graph', () => {
    const edges = [...DIAMOND.edges, { from: 'd', to: 'a' }, { from: 'a', to: 'gone' }];
    expect(layout({ ...DIAMOND, edges }).size).toBe(4);
  });

  it('draws nodes whatever they are called', () => {
    const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const chain = (called: readonly string[]): Position[] => {
      const edges = called.slice(1).map((to, index) => ({ from: called[index] ?? '', to }));
      return [...layout({ nodes: called.map(node), edges }).values()];
    };
    expect(chain(ids)).toEqual(chain(['a', 'b', 'c', 'd']));
  });

  it('lets an edge back change nothing', () => {
    const edges = [...DIAMOND.edges, { from: 'd', to: 'b', loop: { max_iterations: 3 } }];
    expect(layout({ ...DIAMOND, edges })).toEqual(layout(DIAMOND));
  });

  it('leaves room for what stands on an edge', () => {
    const gap = (edges: GraphEdge[]): number => {
      const at = layout({ nodes: [{ id: 'a' }, { id: 'b' }], edges });
      return (at.get('b')?.x ?? 0) - (at.get('a')?.x ?? 0);
    };
    const plain = { from: 'a', to: 'b' };
    expect(gap([{ ...plain, when: 'x' }, plain])).toBeGreaterThan(gap([plain]));
  });

  it('leaves nodes where they were put, when all were', () => {
    const nodes = DIAMOND.nodes.map((it, index) => ({ ...it, position: { x: index, y: 7 } }));
    expect(placed({ nodes, edges: [] }).get('c')).toEqual({ x: 2, y: 7 });
  });
});
