import {
  addLoop,
  addNode,
  setConfigMember,
  connectNodes,
  disconnectNodes,
  type Draft,
  EMPTY_DRAFT,
  idFault,
  leadsBack,
  moveNodes,
  moveEdge,
  removeElements,
  renameNode,
  setDraft,
  setEdge,
  setNode,
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

  it('lets a new node follow another one, right of it and below what stands there', () => {
    const first = addNode(EMPTY_DRAFT, 'agent', { x: 10, y: 20 });
    const second = addNode(first.draft, 'agent', undefined, first.id);
    const third = addNode(second.draft, 'output', undefined, first.id);
    expect(third.draft.nodes.map(({ position }) => position)).toEqual([
      { x: 10, y: 20 },
      { x: 290, y: 20 },
      { x: 290, y: 120 },
    ]);
    expect(third.draft.edges).toEqual([
      { from: first.id, to: second.id },
      { from: first.id, to: third.id },
    ]);
    expect(addNode(first.draft, 'input', undefined, first.id).draft.edges).toEqual([]);
    expect(addNode(first.draft, 'agent', undefined, 'gone').draft.edges).toEqual([]);
  });

  it('knows which ids a node may have', () => {
    const draft = chain('a', 'b');
    for (const id of ['b', 'z', '_', 'a-b', '0']) expect(idFault(draft, 1, id)).toBeUndefined();
    expect(idFault(draft, 1, 'a')).toContain('Another node');
    for (const id of ['', '-a', 'two words', 'ü', 'x'.repeat(65)]) expect(idFault(draft, 1, id)).toContain('letters');
  });

  it('removes a node with its edges', () => {
    expect(removeElements(chain('a', 'b', 'c'), ['b'], []).edges).toEqual([]);
    expect(removeElements(chain('a', 'b', 'c'), [], ['a->b']).edges).toEqual([{ from: 'b', to: 'c' }]);
  });

  it('refuses an edge that is there, leads to itself, or closes a circle', () => {
    const draft = chain('a', 'b', 'c');
    for (const [from, to] of [
      ['a', 'b'],
      ['a', 'a'],
      ['c', 'a'],
    ] as const)
      expect(connectNodes(draft, { from, to })).toBe(draft);
    expect(connectNodes(draft, { from: 'a', to: 'c' }).edges).toHaveLength(3);
    expect(disconnectNodes(draft, { from: 'a', to: 'b' }).edges).toEqual([{ from: 'b', to: 'c' }]);
  });

  it('renames a node in its edges too, unless another has the same id', () => {
    expect(renameNode(chain('a', 'b', 'c'), 1, 'x').edges).toEqual([
      { from: 'a', to: 'x' },
      { from: 'x', to: 'c' },
    ]);
    const twins = renameNode(chain('a', 'b', 'c'), 2, 'b');
    expect(renameNode(twins, 2, 'd').edges[0]).toEqual({ from: 'a', to: 'b' });
  });

  it('renames a node in the texts and expressions that refer to it', () => {
    const draft: Draft = {
      ...chain('a', 'b', 'c'),
      language: 2,
      nodes: [
        { id: 'a', type: 'input', config: {} },
        { id: 'b', type: 'agent', config: { prompt: '{{a}} ${nodes.a.data.x} {{ab}}' } },
        { id: 'c', type: 'set', config: { values: { x: '{{b}}' } }, each: { items: 'nodes.a.data.list' } },
      ],
    };
    const looped = addLoop(setEdge(draft, 0, { when: "nodes['a'].text != ''" }), 'c', 'b', {
      max_iterations: 3,
      exit_when: 'nodes.a.data.ok',
    });
    const renamed = renameNode(looped, 0, 'topic');
    expect(renamed.nodes.map(({ id, config, each }) => [id, config, each?.items])).toEqual([
      ['topic', {}, undefined],
      ['b', { prompt: '{{topic}} ${nodes.topic.data.x} {{ab}}' }, undefined],
      ['c', { values: { x: '{{b}}' } }, 'nodes.topic.data.list'],
    ]);
    expect(renamed.edges.map(({ when, loop }) => when ?? loop?.exit_when)).toEqual([
      `nodes["topic"].text != ''`,
      undefined,
      'nodes.topic.data.ok',
    ]);
  });

  it('sets and removes what is configured', () => {
    const set = setConfigMember(chain('a'), 'a', 'prompt', 'hi');
    expect(set.nodes[0]?.config).toEqual({ prompt: 'hi' });
    expect(setConfigMember(set, 'a', 'prompt', '').nodes[0]?.config).toEqual({});
  });

  it('moves nodes', () => {
    expect(moveNodes(chain('a', 'b'), new Map([['b', { x: 5, y: 6 }]])).nodes[1]?.position).toEqual({ x: 5, y: 6 });
  });

  it('knows what leads back, and makes a loop of it', () => {
    const draft = chain('a', 'b', 'c');
    expect(leadsBack(draft, { from: 'c', to: 'a' })).toBe(true);
    expect(leadsBack(draft, { from: 'a', to: 'c' })).toBe(false);
    const looped = addLoop(addLoop(draft, 'c', 'b', { max_iterations: 3 }), 'c', 'b', { max_iterations: 5 });
    expect(looped.edges.slice(2)).toEqual([{ from: 'c', to: 'b', loop: { max_iterations: 5 } }]);
    expect(leadsBack(looped, { from: 'a', to: 'c' })).toBe(false);
    expect(disconnectNodes(looped, { from: 'c', to: 'b' })).toEqual(looped);
  });

  it('lets edges between the same nodes differ in what they are taken for', () => {
    const draft = connectNodes(chain('a', 'b'), { from: 'a', to: 'b', on: 'failure' });
    expect(draft.edges).toEqual([
      { from: 'a', to: 'b' },
      { from: 'a', to: 'b', on: 'failure' },
    ]);
    expect(connectNodes(draft, { from: 'a', to: 'b' })).toBe(draft);
    expect(removeElements(draft, [], ['a->b#2']).edges).toEqual([{ from: 'a', to: 'b' }]);
    expect(disconnectNodes(draft, { from: 'a', to: 'b' }).edges).toEqual([]);
    expect(moveEdge(draft, 1, -1).edges[0]).toMatchObject({ on: 'failure' });
    expect(moveEdge(draft, 1, 1)).toBe(draft);
  });

  it('keeps what it does not know, in nodes, edges and the whole', () => {
    const known = { ...chain('a', 'b'), $schema: 's', onExit: [{ node: 'b' }] } as Draft;
    const draft = setEdge(setNode(known, 'a', { later: 1 } as object), 0, { when: 'x', later: 2 } as object);
    const renamed = renameNode(draft, 1, 'c');
    expect(renamed).toMatchObject({
      $schema: 's',
      nodes: [{ id: 'a', later: 1 }, { id: 'c' }],
      edges: [{ from: 'a', to: 'c', when: 'x', later: 2 }],
      onExit: [{ node: 'c' }],
    });
    expect(removeElements(renamed, ['c'], [])).not.toHaveProperty('onExit');
    expect(setEdge(renamed, 0, { when: undefined }).edges[0]).not.toHaveProperty('when');
    expect(setDraft(renamed, { onExit: undefined })).not.toHaveProperty('onExit');
  });
});
