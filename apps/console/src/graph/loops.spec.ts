import { frameOf, loopsAround, loopsOf, isReachable } from './loops.js';

const edge = (from: string, to: string, max?: number) => ({
  from,
  to,
  ...(max !== undefined && { loop: { max_iterations: max } }),
});

describe('loopsOf', () => {
  it('finds what lies between the ends of an edge back, and nothing beside it', () => {
    const edges = [
      edge('in', 'draft'),
      edge('draft', 'review'),
      edge('draft', 'aside'),
      edge('review', 'out'),
      edge('review', 'draft', 3),
    ];
    const [loop] = loopsOf(edges);
    expect(loop).toMatchObject({ edge: 4, from: 'review', to: 'draft', depth: 0, height: 0 });
    expect([...(loop?.body ?? [])].toSorted()).toEqual(['draft', 'review']);
  });

  it('knows a node that repeats itself, and loops in loops', () => {
    expect([...(loopsOf([edge('a', 'a', 2)])[0]?.body ?? [])]).toEqual(['a']);
    const edges = [edge('a', 'b'), edge('b', 'c'), edge('c', 'd'), edge('c', 'b', 2), edge('d', 'a', 2)];
    expect(loopsOf(edges).map(({ edge: at, depth, height }) => [at, depth, height])).toEqual([
      [4, 0, 1],
      [3, 1, 0],
    ]);
    expect(loopsAround(edges, 'b').map((it) => it.edge)).toEqual([4, 3]);
    expect(loopsAround(edges, 'd').map((it) => it.edge)).toEqual([4]);
  });

  it('takes edges back for no way', () => {
    const edges = [edge('a', 'b'), edge('b', 'a', 2)];
    expect([isReachable(edges, 'a', 'b'), isReachable(edges, 'b', 'a')]).toEqual([true, false]);
  });
});

describe('frameOf', () => {
  const places = new Map([
    ['a', { x: 0, y: 0 }],
    ['b', { x: 300, y: 100 }],
  ]);

  it('lies around the body, and around the frame inside it', () => {
    const [outer, inner] = loopsOf([edge('a', 'b'), edge('b', 'b', 2), edge('b', 'a', 2)]).map((it) =>
      frameOf(it, places),
    );
    expect(outer).toEqual({ x: -62, y: -78, width: 632, height: 318 });
    expect(inner).toEqual({ x: 272, y: 56, width: 264, height: 150 });
  });

  it('is not there where nothing of the body has a place', () => {
    const [loop] = loopsOf([edge('x', 'x', 2)]);
    expect(loop && frameOf(loop, places)).toBeUndefined();
  });
});
