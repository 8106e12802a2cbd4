import type { CardData, GraphChange } from '../../graph/card-data.js';
import { changeBadge } from '../../graph/change-look.js';
import type { EdgeReport } from '../../graph/flow-elements.js';
import { type DefinitionEdge, type Graph, type GraphNode, NODE_HEIGHT, NODE_WIDTH } from '../../graph/graph.js';
import type { RevisionDiff } from './revision-api.js';

/** Graph that shows two revisions: nodes and edges of the later one, and those that only the earlier one has. */
export interface DiffGraph {
  graph: Graph;
  nodeOf: (id: string) => Partial<CardData>;
  edgeOf: (index: number) => EdgeReport;
}

/**
 * Joins two revisions in one graph, with the notes of the later one. If a removed node would cover another node, the
 * positions of all nodes and the notes are left out, and the canvas lays the graph out.
 */
export function diffGraph(before: Graph, after: Graph, diff: Pick<RevisionDiff, 'nodes' | 'edges'>): DiffGraph {
  const changes = new Map(diff.nodes.map(({ id, change }) => [id, change as GraphChange]));
  const removedNodes = before.nodes.filter(({ id }) => changes.get(id) === 'removed');
  const removedEdges = diff.edges.flatMap(({ change, index }): DefinitionEdge[] => {
    const edge = change === 'removed' ? before.edges[index] : undefined;
    return edge ? [edge] : [];
  });
  const edgeChanges = new Map(
    diff.edges.flatMap(({ change, index }) => (change === 'removed' ? [] : [[index, change as GraphChange]])),
  );
  const nodes = [...after.nodes, ...removedNodes];
  const overlaps = removedNodes.some((removed) => after.nodes.some((node) => liesOn(removed, node)));
  return {
    graph: {
      nodes: overlaps ? nodes.map(({ position: _position, ...node }) => node) : nodes,
      edges: [...after.edges, ...removedEdges],
      // Without the positions of the nodes, a note has no place beside them.
      ...(after.notes && !overlaps && { notes: after.notes }),
    },
    nodeOf: (id) => {
      const change = changes.get(id);
      return change === undefined ? {} : { change, badges: [changeBadge(change)] };
    },
    edgeOf: (index) => {
      const change = index >= after.edges.length ? 'removed' : edgeChanges.get(index);
      return change === undefined ? {} : { change };
    },
  };
}

function liesOn({ position: one }: GraphNode, { position: other }: GraphNode): boolean {
  if (!one || !other) return false;
  return Math.abs(one.x - other.x) < NODE_WIDTH && Math.abs(one.y - other.y) < NODE_HEIGHT;
}
