import type { DefinitionEdge } from '../graph/graph.js';
import { findEarlierNodes } from './earlier-nodes.js';

const graph = (ids: string, edges: DefinitionEdge[], onExit?: { node: string }[]) => ({
  nodes: [...ids].map((id) => ({ id, type: 'agent', config: {} })),
  edges,
  ...(onExit && { onExit }),
});
const edge = (ends: string, members: Partial<DefinitionEdge> = {}): DefinitionEdge => ({
  from: ends.charAt(0),
  to: ends.charAt(1),
  ...members,
});
const loop = (ends: string): DefinitionEdge => edge(ends, { loop: { max_iterations: 2 } });
const before = (draft: ReturnType<typeof graph>, path: string): string =>
  [...findEarlierNodes(draft, path)].toSorted().join('');

describe('findEarlierNodes', () => {
  it('has the ancestors of a node on a straight line', () => {
    const line = graph('abc', [edge('ab'), edge('bc')]);
    expect(before(line, 'nodes[0].config.prompt')).toBe('');
    expect(before(line, 'nodes[1].config.prompt')).toBe('a');
    expect(before(line, 'nodes[2].config.prompt')).toBe('ab');
  });

  it('leaves out the other way of a branch, until both meet', () => {
    const branch = graph('abcd', [edge('ab', { when: 'true' }), edge('ac'), edge('bd'), edge('cd')]);
    expect(before(branch, 'nodes[1].config.prompt')).toBe('a');
    expect(before(branch, 'nodes[3].config.prompt')).toBe('abc');
  });

  it('leaves out a parallel branch', () => {
    const parallel = graph('abcd', [edge('ab'), edge('cd')]);
    expect(before(parallel, 'nodes[1].config.prompt')).toBe('a');
    expect(before(parallel, 'nodes[3].config.prompt')).toBe('c');
  });

  it('has the whole body of a loop around the node, and of a loop before it', () => {
    const looped = graph('abcd', [edge('ab'), edge('bc'), edge('cd'), loop('cb')]);
    expect(before(looped, 'nodes[0].config.prompt')).toBe('');
    expect(before(looped, 'nodes[1].config.prompt')).toBe('abc');
    expect(before(looped, 'nodes[3].config.prompt')).toBe('abc');
    expect(before(looped, 'edges[3].loop.exit_when')).toBe('abc');
  });

  it('has what comes before a node that runs for each entry of a list', () => {
    const each = graph('abc', [edge('ab'), edge('bc')]);
    expect(before(each, 'nodes[1].each.items')).toBe('a');
  });

  it('has nothing for a node without edges', () => {
    expect(before(graph('ab', []), 'nodes[0].config.prompt')).toBe('');
  });

  it('has the source of an edge, and what comes before the source', () => {
    expect(before(graph('abc', [edge('ab'), edge('bc')]), 'edges[1].when')).toBe('ab');
  });

  it('has every other node for one that runs at the end', () => {
    const exits = graph('abc', [edge('ab')], [{ node: 'c' }]);
    expect(before(exits, 'nodes[2].config.prompt')).toBe('ab');
  });

  it('has nothing for a node or an edge that does not exist', () => {
    expect(before(graph('a', []), 'nodes[7].config.prompt')).toBe('');
    expect(before(graph('a', []), 'edges[0].when')).toBe('');
  });
});
