import type { CardData } from './card-data.js';
import { EdgeElements } from './edge-elements.js';
import { type EdgeReport, flowEdges, type NodeState } from './flow-elements.js';
import type { Graph } from './graph.js';
import { placeNodes } from './layout.js';
import { NodeElements } from './node-elements.js';

const IDS = ['a', 'b', 'c'];
const GRAPH: Graph = {
  nodes: IDS.map((id, index) => ({ id, type: 'agent', config: {}, position: { x: index * 300, y: 0 } })),
  edges: [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
  ],
};
const PLACES = placeNodes(GRAPH);

/** Returns the indexes at which two lists have different elements. */
function changed<T>(one: readonly T[], other: readonly T[]): number[] {
  return one.flatMap((element, index) => (element === other[index] ? [] : [index]));
}

describe('NodeElements', () => {
  const stateOf = (data: Record<string, Partial<CardData>>): NodeState => ({
    ...{ places: PLACES, selected: new Set(), editable: false },
    dataOf: (id) => ({ badges: [], ...data[id] }),
  });

  it('keeps the list while nothing changes, though every card is made again', () => {
    const elements = new NodeElements();
    const first = elements.update(GRAPH, stateOf({}));
    expect(elements.update({ ...GRAPH, nodes: [...GRAPH.nodes] }, stateOf({}))).toBe(first);
  });

  it('renews only the node that changed', () => {
    const elements = new NodeElements();
    const first = elements.update(GRAPH, stateOf({ b: { status: 'running' } }));
    expect(changed(first, elements.update(GRAPH, stateOf({ b: { status: 'completed' } })))).toEqual([1]);
  });
});

describe('EdgeElements', () => {
  const onSelect = (): void => undefined;
  const edgesOf = (reports: EdgeReport[]) =>
    flowEdges(GRAPH, { places: PLACES, selected: new Set(), onSelect, reportOf: (index) => reports[index] ?? {} });

  it('keeps the list while nothing changes, though every edge is made again', () => {
    const elements = new EdgeElements();
    const first = elements.update(edgesOf([]));
    expect(elements.update(edgesOf([]))).toBe(first);
  });

  it.each<EdgeReport>([{ state: 'live' }, { problems: ['broken'] }, { moves: true }, { change: 'added' }])(
    'renews only the edge with the report %j',
    (report) => {
      const elements = new EdgeElements();
      const first = elements.update(edgesOf([]));
      expect(changed(first, elements.update(edgesOf([{}, report])))).toEqual([1]);
    },
  );
});
