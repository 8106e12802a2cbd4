import type { CanvasEdge } from './flow-edge.js';
import { keptList } from './node-elements.js';

/**
 * Elements of the edges of a graph. An unchanged edge keeps its element, so that the canvas renders only the edges that
 * changed: at most one element for each edge is kept.
 */
export class EdgeElements {
  private known: ReadonlyMap<string, CanvasEdge> = new Map();
  private elements: readonly CanvasEdge[] = [];

  /** Returns the edges with the elements that are kept; the same list as before if no element changed. */
  update(fresh: readonly CanvasEdge[]): readonly CanvasEdge[] {
    const elements = fresh.map((edge) => {
      const last = this.known.get(edge.id);
      return last && isSameEdge(last, edge) ? last : edge;
    });
    this.known = new Map(elements.map((edge) => [edge.id, edge]));
    this.elements = keptList(this.elements, elements);
    return this.elements;
  }
}

/** True if two elements look the same. The sentence for screen readers has the state and the problems of an edge. */
function isSameEdge(one: CanvasEdge, other: CanvasEdge): boolean {
  const members = ['source', 'target', 'selected', 'animated', 'ariaLabel'] as const;
  return members.every((key) => one[key] === other[key]) && isSameData(one.data, other.data);
}

function isSameData(one: CanvasEdge['data'], other: CanvasEdge['data']): boolean {
  if (!one || !other) return one === other;
  const members = ['aside', 'bottom', 'onSelect'] as const;
  const looks = ['color', 'label', 'title', 'dash', 'width'] as const;
  return members.every((key) => one[key] === other[key]) && looks.every((key) => one.look[key] === other.look[key]);
}
