import fc from 'fast-check';
import type { NodeTypes } from '#libs/agents';
import { flowOf } from '../../../test/support/flow-of.js';
import { WorkflowGraph } from './workflow-graph.js';
import { workflowProblems } from './workflow-problems.js';
import type { WorkflowDefinition, WorkflowEdge } from './workflow.js';

function workflow(ids: string, edges: string, type = 'agent'): WorkflowDefinition {
  return { name: 'wf', nodes: nodesOf(ids, type), edges: edgesOf(edges) };
}

function nodesOf(ids: string, type: string): WorkflowDefinition['nodes'] {
  return ids
    .split(' ')
    .filter(Boolean)
    .map((id) => ({ id, type, config: {} }));
}

function edgesOf(edges: string): WorkflowEdge[] {
  return edges
    .split(' ')
    .filter(Boolean)
    .map((edge) => {
      const [from = '', to = ''] = edge.split('>');
      return { from, to };
    });
}

describe('WorkflowGraph', () => {
  test('knows the edges of each node, and its predecessors and successors in their order', () => {
    const graph = WorkflowGraph.buildValid(workflow('a b c d e', 'a>b a>c c>d b>d c>d d>e'));
    expect(graph.incoming('d').map(({ edge }) => edge)).toEqual(edgesOf('c>d b>d'));
    expect(graph.outgoing('a').map(({ edge }) => edge)).toEqual(edgesOf('a>b a>c'));
    expect(graph.predecessors('d')).toEqual(['c', 'b']);
    expect(graph.successors('a')).toEqual(['b', 'c']);
    expect(graph.order).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('results are the output nodes, without any the leaves', () => {
    expect(
      WorkflowGraph.buildValid(workflow('a b c', 'a>b a>c'))
        .resultNodes()
        .map(({ id }) => id),
    ).toEqual(['b', 'c']);
    const withOutput = workflow('a b', 'a>b');
    withOutput.nodes[0] = { id: 'a', type: 'output', config: {} };
    expect(
      WorkflowGraph.buildValid(withOutput)
        .resultNodes()
        .map(({ id }) => id),
    ).toEqual(['a']);
  });

  test.each([
    ['a a', '', 'build DAG: duplicate node ID: a'],
    ['a', 'a>x', 'build DAG: edge references unknown node: x'],
    ['a', 'x>a', 'build DAG: edge references unknown node: x'],
    ['a', 'a>a', 'build DAG: cycle detected in workflow graph (excluding back-edges)'],
    ['r a b', 'r>a a>b b>a', 'build DAG: cycle detected in workflow graph (excluding back-edges)'],
  ])('refuses nodes "%s" with edges "%s" (C5)', (ids, edges, message) => {
    expect(() => WorkflowGraph.buildValid(workflow(ids, edges))).toThrow(message);
  });

  test('of a definition that is no DAG holds the rest, and says what is wrong first', () => {
    const graph = WorkflowGraph.fromDefinition(workflow('r a b c', 'r>a a>b b>a x>c c>y'));
    expect(graph.fault?.message).toBe('build DAG: edge references unknown node: x');
    expect(graph.predecessors('a')).toEqual(['r', 'b']);
    expect(graph.incoming('c')).toEqual([]);
    expect(graph.order).toEqual(['r', 'c']);
    expect(WorkflowGraph.fromDefinition(workflow('a b', 'a>b')).fault).toBeUndefined();
  });

  test('sorts by the definition', () => {
    const graph = WorkflowGraph.buildValid(workflow('c a b', 'a>b'));
    expect(graph.asDefined([{ id: 'a' }, { id: 'b' }, { id: 'c' }])).toEqual([{ id: 'c' }, { id: 'a' }, { id: 'b' }]);
  });

  test('orders any DAG with every predecessor first', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(fc.tuple(fc.nat(11), fc.nat(11))), (size, pairs) => {
        const ids = Array.from({ length: size }, (_, index) => `n${index}`);
        const edges = pairs
          .filter(([from, to]) => from < to && to < size)
          .map(([from, to]) => ({ from: `n${from}`, to: `n${to}` }));
        const nodes = ids.toReversed().map((id) => ({ id, type: 'agent', config: {} }));
        const { order } = WorkflowGraph.buildValid({ name: 'wf', nodes, edges });
        expect(order.toSorted()).toEqual(ids.toSorted());
        for (const { from, to } of edges) expect(order.indexOf(from)).toBeLessThan(order.indexOf(to));
      }),
    );
  });
});

describe('the loops of a WorkflowGraph', () => {
  const bodies = (ids: string, edges: string) =>
    WorkflowGraph.buildValid(flowOf(ids, edges)).loops.map(({ from, to, index, body }) => [
      from,
      to,
      index,
      [...body].join(' '),
    ]);

  test('repeat all that lies between their ends', () => {
    expect(bodies('in a b c d out', 'in>a a>b a>c b>d c>d d>a@3 d>out b>out')).toEqual([['d', 'a', 5, 'a b c d']]);
    expect(bodies('a b c', 'a>b b>c b>b@2 c>a@2')).toEqual([
      ['b', 'b', 2, 'b'],
      ['c', 'a', 3, 'a b c'],
    ]);
  });

  test('are no part of what follows what', () => {
    const graph = WorkflowGraph.buildValid(flowOf('a b', 'a>b b>a@3'));
    expect(graph.order).toEqual(['a', 'b']);
    expect(graph.incoming('a')).toEqual([]);
    expect(graph.resultNodes().map(({ id }) => id)).toEqual(['b']);
  });

  test.each([
    ['a b', 'b>a@2', 'loop edge from "b" to "a": "a" does not lead to "b"'],
    ['a b', 'a>b a>b@2', 'loop edge from "a" to "b": "b" does not lead to "a"'],
    ['x a b', 'a>b x>b b>a@2', '"x" leads to "b" from outside, but a loop can be entered only at its "to"'],
    ['a b c', 'a>b b>c b>a@2 c>b@2', 'loop edges from "c" to "b" and from "b" to "a" share nodes'],
    ['a b', 'a>b b>a@2 b>a@3', 'share nodes'],
    ['a b', 'a>b b>a c>a@2', 'edge references unknown node: c'],
  ])('of nodes "%s" with edges "%s" are refused where nobody could follow them', (ids, edges, text) => {
    const graph = WorkflowGraph.fromDefinition(flowOf(ids, edges));
    expect(graph.fault?.message).toMatch(/^build DAG: /);
    expect(graph.fault?.message).toContain(text);
    expect(graph.loops).toEqual([]);
  });

  test('name their edge in what is wrong with them', () => {
    expect(WorkflowGraph.fromDefinition(flowOf('a b', 'a>b a>b@2')).fault?.fault).toMatchObject({
      code: 'INVALID_LOOP',
      edge: 1,
    });
  });
});

describe('a WorkflowGraph', () => {
  test('keeps edges with a condition beside others between the same nodes, each with its place', () => {
    const graph = WorkflowGraph.buildValid(flowOf('a b', 'a>b a>b a>b? a>b!'));
    expect(graph.outgoing('a').map(({ index }) => index)).toEqual([0, 2, 3]);
    expect(graph.successors('a')).toEqual(['b']);
    expect(graph.hasChoice('a')).toBe(true);
    expect(graph.hasChoice('b')).toBe(false);
  });

  test('has what only a failure leads on from among its results', () => {
    const graph = WorkflowGraph.buildValid(flowOf('a b c', 'a>b b>c!'));
    expect(graph.resultNodes().map(({ id }) => id)).toEqual(['b', 'c']);
  });

  test.each<[string, WorkflowDefinition, boolean]>([
    ['nodes and edges', flowOf('a b', 'a>b', {}, { onFailure: 'continue', language: 1 }), true],
    ['a condition', flowOf('a b', 'a>b?'), false],
    ['an outcome', flowOf('a b', 'a>b!'), false],
    ['a loop', flowOf('a', 'a>a@1'), false],
    ['a join', flowOf('a', '', { a: { join: 'all' } }), false],
    ['expressions', flowOf('a', '', {}, { language: 2 }), false],
    ['a deadline', flowOf('a', '', {}, { deadline: '1m' }), false],
    ['a wait', flowOf('a', '', { a: { type: 'wait' } }), false],
  ])('of %s is plain or not', (_what, definition, expected) => {
    expect(WorkflowGraph.fromDefinition(definition).isPlain).toBe(expected);
  });

  test('knows the nodes that run at the end, which have no edges', () => {
    const onExit = [{ node: 'b' }];
    expect([...WorkflowGraph.buildValid(flowOf('a b', '', {}, { onExit })).exits]).toEqual([['b', 'always']]);
    expect(WorkflowGraph.fromDefinition(flowOf('a b', 'a>b', {}, { onExit })).fault?.fault.text).toBe(
      'onExit node has an edge: b',
    );
    expect(WorkflowGraph.fromDefinition(flowOf('a', '', {}, { onExit })).fault?.fault.text).toBe(
      'onExit names unknown node: b',
    );
  });
});

describe('workflowProblems', () => {
  const nodeTypes = {
    names: ['agent'] as readonly string[],
    configKeys: () => undefined,
    findProblems: ({ id, type }: { id: string; type: string }) =>
      type === 'nope' ? [`no executor for node type "nope"`, `second of ${id}`] : [],
  } as unknown as NodeTypes;
  const problems = (definition: WorkflowDefinition) =>
    workflowProblems(definition, nodeTypes).map(({ path, detail }) => `${path}: ${detail}`);

  test('has none for a good workflow', () => {
    expect(problems(workflow('a b', 'a>b a>b'))).toEqual([]);
  });

  test('has one entry per problem, all at once', () => {
    const bad = { ...workflow('a a -b', 'a>x y>a', 'nope'), name: 'wörk' };
    expect(problems(bad)).toEqual([
      expect.stringMatching(/^name: name must be/),
      expect.stringMatching(/^nodes\[2\]\.id: node id must be/),
      'nodes[1].id: build DAG: duplicate node ID: a',
      'edges[0].to: build DAG: edge references unknown node: x',
      'edges[1].from: build DAG: edge references unknown node: y',
      ...[0, 1, 2].flatMap((index) => [
        `nodes[${index}]: no executor for node type "nope"`,
        expect.stringMatching(new RegExp(`^nodes\\[${index}\\]: second of`)) as string,
      ]),
    ]);
  });

  test('finds a cycle beside other problems, and an empty workflow', () => {
    expect(problems({ ...workflow('a b', 'a>b b>a'), name: '' })).toEqual([
      expect.stringMatching(/^name:/),
      'edges: build DAG: cycle detected in workflow graph (excluding back-edges)',
    ]);
    expect(problems(workflow('', ''))).toEqual(['nodes: a workflow needs at least one node']);
  });
});
