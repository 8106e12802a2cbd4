import { type WorkflowEdge, WorkflowGraph } from '#libs/workflow-definition';
import { type InstanceName, parseInstance, RerunSelection } from './reused-results.js';

/**
 * Builds a graph. The edge `a>b` leads from `a` to `b`; `a<b:n` is a back-edge from `b` to `a` with at most n
 * iterations.
 */
function graphOf(ids: string, edges: string): WorkflowGraph {
  const nodes = ids.split(' ').map((id) => ({ id, type: 'agent', config: {} }));
  return WorkflowGraph.buildValid({ name: 'w', nodes, edges: edges.split(' ').map(edgeOf) });
}

function edgeOf(text: string): WorkflowEdge {
  const [, to = '', from = '', times] = /^(\w+)<(\w+):(\d+)$/.exec(text) ?? [];
  if (times !== undefined) return { from, to, loop: { max_iterations: Number(times) } };
  const [first = '', second = ''] = text.split('>');
  return { from: first, to: second };
}

function named(name: string): InstanceName {
  const instance = parseInstance(name);
  if (instance === undefined) throw new Error(`${name} is no name of an instance`);
  return instance;
}

function anew(graph: WorkflowGraph, from: string[], of: string): string[] {
  const instances = new RerunSelection(graph, from.map(named));
  return of.split(' ').filter((name) => instances.has(named(name)));
}

describe('what a rerun runs anew', () => {
  const diamond = graphOf('a b c d', 'a>b a>c b>d c>d');
  it.each([
    [['b'], 'b d'],
    [['a'], 'a b c d'],
    [['b', 'c'], 'b c d'],
    [[], ''],
  ])('without loops: %j and all that follows', (from, expected) => {
    expect(anew(diamond, from, 'a b c d').join(' ')).toBe(expected);
  });

  const loop = graphOf('in draft review out aside', 'in>draft draft>review draft<review:5 review>out in>aside');
  const instances = 'in draft@1 review@1 draft@2 review@2 draft@3 review@3 out aside';
  it.each([
    [['draft'], 'draft@1 review@1 draft@2 review@2 draft@3 review@3 out'],
    [['review'], 'draft@1 review@1 draft@2 review@2 draft@3 review@3 out'],
    [['review@2'], 'review@2 draft@3 review@3 out'],
    [['draft@3'], 'draft@3 review@3 out'],
    [['out'], 'out'],
    [['aside'], 'aside'],
    [['in'], instances],
  ])('in a loop: %j', (from, expected) => {
    expect(anew(loop, from, instances).join(' ')).toBe(expected);
  });

  const nested = graphOf('o i p e', 'o>i i>p i<p:3 p>e o<e:3');
  const all = 'o@1 i@1@1 p@1@1 i@1@2 p@1@2 e@1 o@2 i@2@1 p@2@1 i@2@2 p@2@2 e@2';
  it.each([
    [['i@1@2'], 'i@1@2 p@1@2 e@1 o@2 i@2@1 p@2@1 i@2@2 p@2@2 e@2'],
    [['p@2@1'], 'p@2@1 i@2@2 p@2@2 e@2'],
    [['o@2'], 'o@2 i@2@1 p@2@1 i@2@2 p@2@2 e@2'],
    [['i'], all],
  ])('in loops that lie in each other: %j', (from, expected) => {
    expect(anew(nested, from, all).join(' ')).toBe(expected);
  });

  it('of a list the named entries, and all that follows', () => {
    const list = graphOf('l m o', 'l>m m>o');
    expect(anew(list, ['m[2]'], 'l m m[0] m[1] m[2] m[3] o')).toEqual(['m', 'm[2]', 'o']);
    expect(anew(list, ['m'], 'l m m[0] m[1] o')).toEqual(['m', 'm[0]', 'm[1]', 'o']);
  });
});

describe('the names of instances', () => {
  it.each([
    ['draft', { id: 'draft', path: [] }],
    ['draft@2', { id: 'draft', path: [2] }],
    ['x@2@1[17]', { id: 'x', path: [2, 1], index: 17 }],
    ['a b', undefined],
    ['a@', undefined],
    ['a[x]', undefined],
    ['@2', undefined],
  ])('%s', (name, expected) => {
    expect(parseInstance(name)).toEqual(expected);
  });
});
