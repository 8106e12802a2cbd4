import fc from 'fast-check';
import type { NodeTypes } from '#libs/executor';
import type { WorkflowDefinition, WorkflowEdge } from './workflow.js';
import { WorkflowGraph } from './workflow-graph.js';
import { workflowProblems } from './workflow-problems.js';

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
    const graph = WorkflowGraph.build(workflow('a b c d e', 'a>b a>c c>d b>d c>d d>e'));
    expect(graph.incoming('d').map(({ edge }) => edge)).toEqual(edgesOf('c>d b>d'));
    expect(graph.outgoing('a').map(({ edge }) => edge)).toEqual(edgesOf('a>b a>c'));
    expect(graph.predecessors('d')).toEqual(['c', 'b']);
    expect(graph.successors('a')).toEqual(['b', 'c']);
    expect(graph.order).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('results are the output nodes, without any the leaves', () => {
    expect(
      WorkflowGraph.build(workflow('a b c', 'a>b a>c'))
        .resultNodes()
        .map(({ id }) => id),
    ).toEqual(['b', 'c']);
    const withOutput = workflow('a b', 'a>b');
    withOutput.nodes[0] = { id: 'a', type: 'output', config: {} };
    expect(
      WorkflowGraph.build(withOutput)
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
    expect(() => WorkflowGraph.build(workflow(ids, edges))).toThrow(message);
  });

  test('of a definition that is no DAG holds the rest, and says what is wrong first', () => {
    const graph = WorkflowGraph.of(workflow('r a b c', 'r>a a>b b>a x>c c>y'));
    expect(graph.fault?.message).toBe('build DAG: edge references unknown node: x');
    expect(graph.predecessors('a')).toEqual(['r', 'b']);
    expect(graph.incoming('c')).toEqual([]);
    expect(graph.order).toEqual(['r', 'c']);
    expect(WorkflowGraph.of(workflow('a b', 'a>b')).fault).toBeUndefined();
  });

  test('sorts by the definition', () => {
    const graph = WorkflowGraph.build(workflow('c a b', 'a>b'));
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
        const { order } = WorkflowGraph.build({ name: 'wf', nodes, edges });
        expect(order.toSorted()).toEqual(ids.toSorted());
        for (const { from, to } of edges) expect(order.indexOf(from)).toBeLessThan(order.indexOf(to));
      }),
    );
  });
});

describe('workflowProblems', () => {
  const nodeTypes = {
    names: ['agent'] as readonly string[],
    keys: () => undefined,
    problems: ({ id, type }: { id: string; type: string }) =>
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
