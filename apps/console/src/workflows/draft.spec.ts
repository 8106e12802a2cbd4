import {
  addNode,
  configure,
  connect,
  disconnect,
  type Draft,
  EMPTY_DRAFT,
  move,
  reaches,
  remove,
  rename,
} from './draft.js';

const chain = (...ids: string[]): Draft => ({
  ...EMPTY_DRAFT,
  nodes: ids.map((id) => ({ id, type: 'agent', config: {} })),
  edges: ids.slice(1).map((id, index) => ({ from: ids[index] ?? '', to: id })),
});

describe('a draft', () => {
  it('gives new nodes free names and what their type needs', () => {
    const first = addNode(EMPTY_DRAFT, 'external');
    const second = addNode(first.draft, 'external', { x: 1, y: 2 });
    expect([first.id, second.id]).toEqual(['external1', 'external2']);
    expect(second.draft.nodes[1]).toEqual({
      id: 'external2',
      type: 'external',
      config: { endpoint_url: '', timeout: 30 },
      position: { x: 1, y: 2 },
    });
  });

  it('removes a node with its edges', () => {
    expect(remove(chain('a', 'b', 'c'), ['b'], []).edges).toEqual([]);
    expect(remove(chain('a', 'b', 'c'), [], ['a->b']).edges).toEqual([{ from: 'b', to: 'c' }]);
  });

  it('refuses an edge that is there, leads to itself, or closes a circle', () => {
    const draft = chain('a', 'b', 'c');
    for (const [from, to] of [
      ['a', 'b'],
      ['a', 'a'],
      ['c', 'a'],
    ] as const)
      expect(connect(draft, { from, to })).toBe(draft);
    expect(connect(draft, { from: 'a', to: 'c' }).edges).toHaveLength(3);
    expect(disconnect(draft, { from: 'a', to: 'b' }).edges).toEqual([{ from: 'b', to: 'c' }]);
  });

  it('renames a node in its edges too, unless another has the same id', () => {
    expect(rename(chain('a', 'b', 'c'), 1, 'x').edges).toEqual([
      { from: 'a', to: 'x' },
      { from: 'x', to: 'c' },
    ]);
    const twins = rename(chain('a', 'b', 'c'), 2, 'b');
    expect(rename(twins, 2, 'd').edges[0]).toEqual({ from: 'a', to: 'b' });
  });

  it('sets and removes what is configured', () => {
    const set = configure(chain('a'), 'a', 'prompt', 'hi');
    expect(set.nodes[0]?.config).toEqual({ prompt: 'hi' });
    expect(configure(set, 'a', 'prompt', '').nodes[0]?.config).toEqual({});
  });

  it('moves nodes, and knows what reaches what', () => {
    expect(move(chain('a', 'b'), new Map([['b', { x: 5, y: 6 }]])).nodes[1]?.position).toEqual({ x: 5, y: 6 });
    expect([reaches(chain('a', 'b', 'c'), 'a', 'c'), reaches(chain('a', 'b', 'c'), 'c', 'a')]).toEqual([true, false]);
  });
});
