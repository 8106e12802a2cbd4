import { flowNode, type NodeState } from './flow-elements.js';
import type { Graph, GraphNode, Position } from './graph.js';
import type { CardData } from './card-data.js';
import type { CardNode } from './node-card.js';

/** Data for building the canvas element of a node. */
interface Source {
  node: GraphNode;
  place: Position | undefined;
  isSelected: boolean;
  editable: boolean;
  data: Partial<CardData> | undefined;
}

/**
 * Cache of the canvas elements of a graph's nodes. `update` returns the same object for a node that did not change, and
 * React renders only the nodes whose object is new. The cache has the elements of the last `update` only.
 */
export class NodeElements {
  private known = new Map<string, Source & { element: CardNode }>();
  private elements: readonly CardNode[] = [];

  /** Returns the elements of the nodes of a graph, in order; the same list as before if no element changed. */
  update({ nodes }: Graph, { places, selected, editable, dataOf }: NodeState): readonly CardNode[] {
    const next: typeof this.known = new Map();
    const elements = nodes.map((node) => {
      const { id } = node;
      const source = { node, place: places.get(id), isSelected: selected.has(id), editable, data: dataOf?.(id) };
      const last = this.known.get(id);
      const element = last && isSameSource(last, source) ? last.element : flowNode(source);
      next.set(id, { ...source, element });
      return element;
    });
    this.known = next;
    this.elements = keptList(this.elements, elements);
    return this.elements;
  }
}

/** Returns the list before if it has the same elements as the list after. */
export function keptList<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  return before.length === after.length && before.every((element, index) => element === after[index]) ? before : after;
}

function isSameSource(one: Source, other: Source): boolean {
  return (
    one.node === other.node &&
    one.place === other.place &&
    one.isSelected === other.isSelected &&
    one.editable === other.editable &&
    isSameData(one.data, other.data)
  );
}

/** True if two contents are the same: a change of one node creates the contents of all nodes. */
function isSameData(one: Source['data'], other: Source['data']): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
