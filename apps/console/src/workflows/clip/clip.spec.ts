import { EMPTY_DRAFT, type Draft } from '../draft.js';
import { clipText, copyPart, pastePart, readClip } from './clip.js';

const at = (x: number, y = 0) => ({ x, y });
const note = (text: string, x = 0) => ({ text, position: at(x, -160) });
const DRAFT: Draft = {
  ...EMPTY_DRAFT,
  name: 'w',
  language: 2,
  nodes: [
    { id: 'topic', type: 'input', config: {}, position: at(0) },
    { id: 'draft', type: 'agent', config: { prompt: '{{topic}} {{review}}' }, position: at(280) },
    { id: 'review', type: 'agent', config: { prompt: '${nodes.draft.text} {{topic}}' }, position: at(560) },
    { id: 'end', type: 'output', config: { prompt: '{{draft}}' }, position: at(840) },
  ],
  edges: [
    { from: 'topic', to: 'draft' },
    { from: 'draft', to: 'review', when: "nodes.draft.data.ok && nodes.topic.text != ''" },
    { from: 'review', to: 'draft', loop: { max_iterations: 3, exit_when: 'nodes.review.data.good' } },
    { from: 'review', to: 'end' },
  ],
  onExit: [{ node: 'end' }, { node: 'review', on: 'failure' }],
  notes: [note('one'), note('two', 300)],
};
const copied = (nodes: string[], notes: number[] = []) =>
  readClip(clipText(copyPart(DRAFT, { nodes: new Set(nodes), notes: new Set(notes) })));

describe('a copied part of a workflow', () => {
  it('has the edges between its nodes, its exits and its notes alone', () => {
    expect(copied(['draft', 'review'], [1])).toEqual({
      language: 2,
      nodes: DRAFT.nodes.slice(1, 3),
      edges: DRAFT.edges.slice(1, 3),
      onExit: DRAFT.onExit?.slice(1),
      notes: DRAFT.notes?.slice(1),
    });
  });

  it('gets new ids where ids are taken, and its inner references follow while outer ones stay', () => {
    const { draft, nodes, notes } = pastePart(DRAFT, copied(['draft', 'review'], [1]));
    expect([nodes, notes]).toEqual([['draft2', 'review2'], [2]]);
    expect(draft.nodes.slice(0, 4)).toEqual(DRAFT.nodes);
    expect(draft.nodes.slice(4)).toEqual([
      { id: 'draft2', type: 'agent', config: { prompt: '{{topic}} {{review2}}' }, position: at(320, 40) },
      { id: 'review2', type: 'agent', config: { prompt: '${nodes.draft2.text} {{topic}}' }, position: at(600, 40) },
    ]);
    expect(draft.edges.slice(4)).toEqual([
      { from: 'draft2', to: 'review2', when: "nodes.draft2.data.ok && nodes.topic.text != ''" },
      { from: 'review2', to: 'draft2', loop: { max_iterations: 3, exit_when: 'nodes.review2.data.good' } },
    ]);
    expect(draft.onExit).toEqual([...(DRAFT.onExit ?? []), { node: 'review2', on: 'failure' }]);
    expect(draft.notes?.[2]).toEqual({ text: 'two', position: at(340, -120) });
  });

  it('never gets an id to which one of its references to other nodes leads', () => {
    const nodes = [{ id: 'a', type: 'agent', config: { prompt: '{{a2}}' } }];
    const { draft } = pastePart(
      { ...EMPTY_DRAFT, nodes },
      readClip(clipText({ nodes, edges: [], onExit: [], notes: [] })),
    );
    expect(draft.nodes.map(({ id, config }) => [id, config])).toEqual([
      ['a', { prompt: '{{a2}}' }],
      ['a3', { prompt: '{{a2}}' }],
    ]);
  });

  it('keeps its ids in another workflow, and gets ids of at most 64 characters', () => {
    expect(pastePart(EMPTY_DRAFT, copied(['draft', 'review'])).nodes).toEqual(['draft', 'review']);
    const nodes = [{ id: 'x'.repeat(64), type: 'agent', config: {} }];
    const long = { ...EMPTY_DRAFT, nodes };
    expect(pastePart(long, { nodes, edges: [], onExit: [], notes: [] }).nodes).toEqual([`${'x'.repeat(63)}2`]);
  });

  it('brings its expressions into an empty workflow, and changes the language of no other', () => {
    expect(pastePart(EMPTY_DRAFT, copied(['draft'])).draft.language).toBe(2);
    const other = { ...EMPTY_DRAFT, nodes: [{ id: 'a', type: 'agent', config: {} }] };
    expect(pastePart(other, copied(['draft'])).draft.language).toBeUndefined();
  });

  it('is placed at the wanted place, and each further copy aside of the others', () => {
    expect(pastePart(DRAFT, copied(['draft', 'review']), at(5, 7)).draft.nodes[4]?.position).toEqual(at(5, 7));
    const once = pastePart(DRAFT, copied(['draft'])).draft;
    expect(pastePart(once, copied(['draft'])).draft.nodes.at(-1)?.position).toEqual(at(360, 80));
  });
});

describe('a text that is no copied part', () => {
  const kind = 'parley/canvas';
  const part = (more: object): string => JSON.stringify({ kind, nodes: [], edges: [], onExit: [], notes: [], ...more });
  const node = { id: 'a', type: 'agent', config: {} };
  const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  it.each([
    ['', 'copy them on the canvas'],
    ['hello', 'copy them on the canvas'],
    ['{"nodes":[]}', 'copy them on the canvas'],
    ['null', 'copy them on the canvas'],
    ['x'.repeat(262_145), 'has 262145 characters'],
    [part({ nodes: {} }), 'nodes is not a list'],
    [part({ nodes: [null] }), 'nodes[0] needs an id, a type and a config'],
    [part({ nodes: [node, { ...node, id: 'no id' }] }), 'nodes[1] needs'],
    [part({ nodes: [{ ...node, config: [] }] }), 'nodes[0] needs'],
    [part({ nodes: [{ ...node, position: { x: '1' } }] }), 'nodes[0] needs'],
    [part({ nodes: [node, node] }), 'two nodes with the same id'],
    [part({ nodes: [node], edges: [{ from: 'a', to: 'b' }] }), 'edges[0] needs a from and a to'],
    [part({ nodes: [node], onExit: [{ node: 'b' }] }), 'onExit[0] needs a node'],
    [part({ notes: [{ text: 5, position: at(0) }] }), 'notes[0] needs a text'],
    [part({ nodes: [] }).replace('"nodes":[]', `"nodes":${deep(200)}`), 'more than 100 levels'],
    [part({ nodes: [] }).replace('"nodes":[]', `"nodes":${deep(100_000)}`), 'more than 100 levels'],
  ])('is refused with a sentence: %.40s', (text, sentence) => {
    expect(() => readClip(text)).toThrow(sentence);
  });

  it('is refused if the workflow would have too many nodes, edges or notes', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => ({ ...node, id: `n${index}` }));
    const full = { ...EMPTY_DRAFT, nodes: many(999) };
    expect(() => pastePart(full, copied(['draft', 'review']))).toThrow('would have 1001 nodes; at most 1000');
    const notes = Array.from({ length: 100 }, () => note('x'));
    expect(() => pastePart({ ...EMPTY_DRAFT, notes }, copied([], [0]))).toThrow('would have 101 notes; at most 100');
  });
});
