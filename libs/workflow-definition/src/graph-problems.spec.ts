import type { JsonObject } from '#libs/protocol';
import { agent, codesOf, edge, type Found, GOOD, having, problemsOf } from './testing/checked-definitions.js';

describe('of an edge', () => {
  const three = (members: JsonObject, ...edges: JsonObject[]): JsonObject => ({
    name: 'w',
    nodes: [agent('a', members), agent('b'), agent('c'), agent('d')],
    edges,
  });
  const first = { branch: 'first' };

  it('two are no else of the same branch', () => {
    const found: Found[] = [['INVALID_BRANCH', 'edges[1].when']];
    expect(codesOf(three(first, edge('a', 'b'), edge('a', 'c')))).toEqual(found);
    expect(codesOf(three(first, edge('a', 'b'), edge('a', 'c', { on: 'always' })))).toEqual(found);
    expect(codesOf(three(first, edge('a', 'b', { on: 'always' }), edge('a', 'c', { on: 'failure' })))).toEqual(found);
    const last = three(first, edge('a', 'b'), edge('a', 'c', { when: 'true' }), edge('a', 'd'));
    expect(problemsOf(last)).toMatchObject([{ code: 'INVALID_BRANCH', path: 'edges[2].when', edge: 2 }]);
  });

  it('one is, of each', () => {
    expect(codesOf(three({}, edge('a', 'b'), edge('a', 'c')))).toEqual([]);
    expect(codesOf(three(first, edge('a', 'b'), edge('a', 'c', { on: 'failure' })))).toEqual([]);
    expect(codesOf(three(first, edge('a', 'b'), edge('a', 'c', { when: 'true' })))).toEqual([]);
    expect(codesOf(three(first, edge('a', 'b'), edge('a', 'a', { loop: { max_iterations: 1 } })))).toEqual([]);
  });

  it.each<[JsonObject, Found]>([
    [{ when: '' }, ['INVALID_EXPRESSION', 'edges[3].when', 0]],
    [{ when: 'nodes.gate.data.ok ==' }, ['INVALID_EXPRESSION', 'edges[3].when', 19]],
    [{ when: 'nodes.nobody.data' }, ['INVALID_EXPRESSION', 'edges[3].when', 6]],
    [{ when: 'true && nodes.draft.result' }, ['INVALID_EXPRESSION', 'edges[3].when', 20]],
    [{ when: 'true || inputs.nobody' }, ['INVALID_EXPRESSION', 'edges[3].when', 15]],
    [{ when: "error.kind == 'failed'" }, ['INVALID_EXPRESSION', 'edges[3].when', 0]],
    [{ when: 'iteration > 1' }, ['INVALID_EXPRESSION', 'edges[3].when', 0]],
    [{ when: 'inputs' }, ['INVALID_EXPRESSION', 'edges[3].when', 0]],
    [{ when: ' 1 ' }, ['INVALID_EXPRESSION', 'edges[3].when', 0]],
    [{ when: 'true && nodes.out.text' }, ['LATER_REFERENCE', 'edges[3].when', 14]],
    [{ when: "nodes['notify'].text == ''" }, ['LATER_REFERENCE', 'edges[3].when', 5]],
  ])('%j is refused: %j', (members, found) => {
    expect(codesOf(having('edges.3', members))).toEqual([found]);
    expect(problemsOf(having('edges.3', members))[0]).toMatchObject({ severity: 'error', edge: 3 });
  });

  it('is described with its ends, and where', () => {
    expect(problemsOf(having('edges.3', { when: 'nodes.nobody.data' }))).toEqual([
      {
        severity: 'error',
        code: 'INVALID_EXPRESSION',
        detail: 'edge from "gate" to "out": when, at 6: nodes has no "nobody"',
        path: 'edges[3].when',
        edge: 3,
        offset: 6,
      },
    ]);
  });

  it('a failure is known on an edge for one', () => {
    const when = "error.kind == 'timeout'";
    const spare = agent('spare');
    const nodes = [...(GOOD['nodes'] as JsonObject[]), spare];
    const edges = (on: string) => [...(GOOD['edges'] as JsonObject[]), edge('gate', 'spare', { on, when })];
    expect(codesOf(having('', { nodes, edges: edges('failure') }))).toEqual([]);
    expect(codesOf(having('', { nodes, edges: edges('always') }))).toEqual([]);
    expect(codesOf(having('', { nodes, edges: edges('success') }))).toEqual([
      ['INVALID_EXPRESSION', 'edges[4].when', 0],
    ]);
  });

  it.each<[JsonObject, Found]>([
    [{ loop: { max_iterations: 0 } }, ['OUT_OF_RANGE', 'edges[2].loop.max_iterations']],
    [{ loop: { max_iterations: 101 } }, ['OUT_OF_RANGE', 'edges[2].loop.max_iterations']],
    [{ loop: { max_iterations: 1.5 } }, ['OUT_OF_RANGE', 'edges[2].loop.max_iterations']],
    [{ loop: { max_iterations: 3, delay: 'a while' } }, ['INVALID_DURATION', 'edges[2].loop.delay']],
    [{ loop: { max_iterations: 3, exit_when: 'nodes.x.data' } }, ['INVALID_EXPRESSION', 'edges[2].loop.exit_when', 6]],
    [{ loop: { max_iterations: 3, exit_when: 'iteration' } }, ['INVALID_EXPRESSION', 'edges[2].loop.exit_when', 0]],
    [
      { loop: { max_iterations: 3, exit_when: "nodes.out.text == ''" } },
      ['LATER_REFERENCE', 'edges[2].loop.exit_when', 6],
    ],
    [{ when: 'true' }, ['INVALID_LOOP', 'edges[2].when']],
    [{ on: 'failure' }, ['INVALID_LOOP', 'edges[2].on']],
  ])('back: %j is refused: %j', (members, found) => {
    expect(codesOf(having('edges.2', members))).toEqual([found]);
  });

  it('back has something to repeat, which is entered at its beginning', () => {
    const edges = GOOD['edges'] as JsonObject[];
    const nodes = [...(GOOD['nodes'] as JsonObject[]), agent('side')];
    expect(codesOf(having('', { edges: [...edges, edge('topic', 'out', { loop: { max_iterations: 2 } })] }))).toEqual([
      ['INVALID_LOOP', 'edges[4]'],
    ]);
    expect(codesOf(having('', { nodes, edges: [...edges, edge('side', 'gate')] }))).toEqual([
      ['INVALID_LOOP', 'edges[2]'],
    ]);
    const across = [...edges, edge('out', 'gate', { loop: { max_iterations: 2 } })];
    expect(codesOf(having('', { edges: across }))).toEqual([
      ['INVALID_LOOP', expect.stringMatching(/^edges\[[24]\]$/)],
    ]);
  });

  it('back there are not as many as there may be edges', () => {
    const loops = Array.from({ length: 10_000 }, () => edge('a', 'a', { loop: { max_iterations: 1 } }));
    expect(codesOf({ name: 'w', nodes: [agent('a')], edges: loops })).toEqual([['INVALID_LOOP', 'edges[100]']]);
  });
});
