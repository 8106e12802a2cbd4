import { PrecedenceIndex, WorkflowGraph } from './workflow-graph.js';
import type { WorkflowDefinition } from './workflow.js';

/** Builds the index of a graph. `a>b` is an edge; `b<a` is a back-edge from `b` to `a`. */
function reachOf(edges: string, onExit: string[] = []): PrecedenceIndex {
  const read = edges.split(' ').map((it) => {
    const [from = '', to = ''] = it.split(/[<>]/);
    return it.includes('<') ? { from, to, loop: { max_iterations: 2 } } : { from, to };
  });
  const ids = new Set([...read.flatMap(({ from, to }) => [from, to]), ...onExit]);
  const definition: WorkflowDefinition = {
    name: 'w',
    nodes: [...ids].map((id) => ({ id, type: 'agent', config: {} })),
    edges: read,
    onExit: onExit.map((node) => ({ node })),
  };
  return new PrecedenceIndex(WorkflowGraph.buildValid(definition));
}

describe('Reach', () => {
  it('has what is before a node', () => {
    const reach = reachOf('a>b b>c a>d');
    expect([reach.runsAfter('c', 'a'), reach.runsAfter('c', 'b')]).toEqual([true, true]);
    expect([reach.runsAfter('c', 'c'), reach.runsAfter('c', 'd'), reach.runsAfter('a', 'c')]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('has in a loop all that it repeats, and after it as well', () => {
    // The loop repeats a, b, c and d; the edge to side leaves it at b.
    const reach = reachOf('in>a a>b a>c b>d c>d d<a b>side side>end');
    expect(['a', 'b', 'c', 'd'].map((id) => reach.runsAfter('b', id))).toEqual([true, true, true, true]);
    expect(['a', 'b', 'c', 'd', 'in'].map((id) => reach.runsAfter('side', id))).toEqual([true, true, true, true, true]);
    expect(['a', 'c', 'd'].map((id) => reach.runsAfter('end', id))).toEqual([true, true, true]);
    expect([reach.runsAfter('b', 'side'), reach.runsAfter('in', 'a')]).toEqual([false, false]);
  });

  it('has in the outer loop what the inner one repeats', () => {
    const reach = reachOf('a>b b>c c<b c>d d<a d>end');
    expect(['b', 'c', 'd', 'end'].map((id) => reach.runsAfter('b', id))).toEqual([true, true, true, false]);
    expect([reach.isRepeated('a', 'd'), reach.isRepeated('b', 'c'), reach.isRepeated('d', 'end')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('has at the end everything but what runs there as well', () => {
    const reach = reachOf('a>b', ['x', 'y']);
    expect(['a', 'b', 'x', 'y'].map((id) => reach.runsAfter('x', id))).toEqual([true, true, false, false]);
    expect(reach.runsAfter('b', 'x')).toBe(false);
  });

  it('has the source of an edge when the edge is decided', () => {
    const reach = reachOf('a>b b>c');
    expect(['a', 'b', 'c'].map((id) => reach.decidesAfter('b', id))).toEqual([true, true, false]);
  });
});
