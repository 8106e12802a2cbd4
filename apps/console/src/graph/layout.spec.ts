import { SeededRandom } from '../../../../test/support/seeded-random.js';
import { type DefinitionEdge, NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';
import { layOutGraph, placeNodes, type GraphShape } from './layout.js';

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
    const at = layOutGraph(DIAMOND);
    const x = (id: string) => at.get(id)?.x ?? Number.NaN;
    expect(x('a')).toBeLessThan(x('b'));
    expect(x('b')).toBe(x('c'));
    expect(x('c')).toBeLessThan(x('d'));
    expect(at.get('b')?.y).not.toBe(at.get('c')?.y);
  });

  it('draws also what is not a valid graph', () => {
    const edges = [...DIAMOND.edges, { from: 'd', to: 'a' }, { from: 'a', to: 'gone' }];
    expect(layOutGraph({ ...DIAMOND, edges }).size).toBe(4);
  });

  it('draws nodes whatever they are called', () => {
    const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const chain = (called: readonly string[]): Position[] => {
      const edges = called.slice(1).map((to, index) => ({ from: called[index] ?? '', to }));
      return [...layOutGraph({ nodes: called.map(node), edges }).values()];
    };
    expect(chain(ids)).toEqual(chain(['a', 'b', 'c', 'd']));
  });

  it('lets an edge back change nothing', () => {
    const edges = [...DIAMOND.edges, { from: 'd', to: 'b', loop: { max_iterations: 3 } }];
    expect(layOutGraph({ ...DIAMOND, edges })).toEqual(layOutGraph(DIAMOND));
  });

  it('leaves room for what stands on an edge', () => {
    const gap = (edges: DefinitionEdge[]): number => {
      const at = layOutGraph({ nodes: [{ id: 'a' }, { id: 'b' }], edges });
      return (at.get('b')?.x ?? 0) - (at.get('a')?.x ?? 0);
    };
    const plain = { from: 'a', to: 'b' };
    expect(gap([{ ...plain, when: 'x' }, plain])).toBeGreaterThan(gap([plain]));
  });

  it('leaves nodes where they were put, when all were', () => {
    const nodes = DIAMOND.nodes.map((it, index) => ({ ...it, position: { x: index, y: 7 } }));
    expect(placeNodes({ nodes, edges: [] }).get('c')).toEqual({ x: 2, y: 7 });
  });
});

/** A graph whose edges lead from earlier to later nodes, most of them to near ones. */
function largeGraph(count: number, more: Partial<DefinitionEdge> = {}): GraphShape & { nodes: { id: string }[] } {
  const random = new SeededRandom(7);
  const edges = Array.from({ length: 2 * count }, (): DefinitionEdge => {
    const from = random.between(0, count - 2);
    const reach = random.next() < 0.05 ? count : 20;
    return { from: `n${from}`, to: `n${Math.min(from + random.between(1, reach), count - 1)}`, ...more };
  });
  return { nodes: Array.from({ length: count }, (_, index) => ({ id: `n${index}` })), edges };
}

function boxesOverlap(places: ReadonlyMap<string, Position>): boolean {
  const columns = Map.groupBy(places.values(), ({ x }) => x);
  const lefts = [...columns.keys()].toSorted((a, b) => a - b);
  const isNarrow = lefts.some((x, index) => index > 0 && x - lefts[index - 1]! < NODE_WIDTH);
  const isTight = (column: readonly Position[]): boolean => {
    const tops = column.map(({ y }) => y).toSorted((a, b) => a - b);
    return tops.some((y, index) => index > 0 && y - tops[index - 1]! < NODE_HEIGHT);
  };
  return isNarrow || [...columns.values()].some(isTight);
}

const leadsRight = (places: ReadonlyMap<string, Position>, { from, to }: DefinitionEdge): boolean =>
  places.get(from)!.x + NODE_WIDTH < places.get(to)!.x;

describe('the layout of a large graph', () => {
  it.each([151, 1_000])('leads every edge of %d nodes from left to right, and no node covers another', (count) => {
    const graph = largeGraph(count);
    const places = layOutGraph(graph);
    expect(places.size).toBe(count);
    expect(graph.edges.filter((edge) => !leadsRight(places, edge))).toEqual([]);
    expect(boxesOverlap(places)).toBe(false);
  });

  it('does so for few nodes with many edges', () => {
    const graph = largeGraph(100);
    const many = { ...graph, edges: Array.from({ length: 10 }, () => graph.edges).flat() };
    const places = layOutGraph(many);
    expect(many.edges.every((edge) => leadsRight(places, edge))).toBe(true);
    expect(places).toEqual(layOutGraph(many));
  });

  // Dagre takes hours for this one.
  it('ends for ten thousand nodes, also in one chain, in a star, and without edges', () => {
    const graph = largeGraph(10_000);
    const ids = graph.nodes.map(({ id }) => id);
    const chain = ids.slice(1).map((to, index) => ({ from: ids[index]!, to }));
    const star = ids.slice(1).map((to) => ({ from: ids[0]!, to }));
    for (const edges of [graph.edges, chain, star, []]) expect(layOutGraph({ ...graph, edges }).size).toBe(10_000);
  });

  it('draws also what is not a valid graph, and lets an edge back change nothing', () => {
    const graph = largeGraph(400);
    const back = { from: 'n399', to: 'n0', loop: { max_iterations: 3 } };
    expect(layOutGraph({ ...graph, edges: [...graph.edges, back] })).toEqual(layOutGraph(graph));
    const odd = [...graph.edges, { from: 'n399', to: 'n0' }, { from: 'n1', to: 'n1' }, { from: 'n1', to: 'gone' }];
    const places = layOutGraph({ ...graph, edges: odd });
    expect([places.size, boxesOverlap(places)]).toEqual([400, false]);
    expect([...places.values()].every(({ x, y }) => Number.isInteger(x) && Number.isInteger(y))).toBe(true);
  });

  it('leaves room for what stands on an edge', () => {
    const width = (graph: GraphShape): number => Math.max(...[...layOutGraph(graph).values()].map(({ x }) => x));
    expect(width(largeGraph(400, { when: 'x' }))).toBeGreaterThan(width(largeGraph(400)));
  });

  it('puts what runs side by side below each other in the order of what leads to it', () => {
    const rows = Array.from({ length: 200 }, (_, row) => row);
    const nodes = ['first', 'second', 'third'].flatMap((column) => rows.map((row) => ({ id: `${column} ${row}` })));
    const edges = rows.flatMap((row) => [
      { from: `first ${row}`, to: `second ${199 - row}` },
      { from: `second ${199 - row}`, to: `third ${row}` },
    ]);
    const places = layOutGraph({ nodes, edges });
    expect(edges.filter(({ from, to }) => places.get(from)!.y !== places.get(to)!.y)).toEqual([]);
  });
});
