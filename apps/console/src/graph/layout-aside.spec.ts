import { isQuicklyPlaced, layoutAside, placedAside } from './layout-aside.js';

const node = (id: string, position?: { x: number; y: number }) => ({ id, type: 'agent', config: {}, position });
const row = (length: number) => Array.from({ length }, (_, index) => `n${index}`);

describe('placedAside', () => {
  it('tells what a frame has time for: few nodes, a layout in linear time, or places that are known', () => {
    expect(isQuicklyPlaced({ nodes: row(40).map((id) => node(id)), edges: [] })).toBe(true);
    expect(isQuicklyPlaced({ nodes: row(41).map((id) => node(id)), edges: [] })).toBe(false);
    expect(isQuicklyPlaced({ nodes: row(150).map((id) => node(id)), edges: [] })).toBe(false);
    expect(isQuicklyPlaced({ nodes: row(151).map((id) => node(id)), edges: [] })).toBe(true);
    expect(isQuicklyPlaced({ nodes: row(4_001).map((id) => node(id)), edges: [] })).toBe(false);
    expect(isQuicklyPlaced({ nodes: row(5_000).map((id) => node(id, { x: 1, y: 2 })), edges: [] })).toBe(true);
  });

  it('places every node, also where there are no workers', async () => {
    const nodes = row(60).map((id) => node(id));
    expect((await layoutAside({ nodes, edges: [{ from: 'n0', to: 'n1' }] })).size).toBe(60);
    const put = row(60).map((id) => node(id, { x: 3, y: 4 }));
    expect((await placedAside({ nodes: put, edges: [] })).get('n59')).toEqual({ x: 3, y: 4 });
  });
});
