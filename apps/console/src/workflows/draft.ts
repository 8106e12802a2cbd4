import { edgeId, type Graph, type GraphEdge, type GraphNode, type Position } from '../graph/graph.js';
import { FIRST_CONFIG } from '../nodes/node-fields.js';

/** A workflow while it is edited. Every change gives a new one. */
export interface Draft extends Graph {
  name: string;
  description: string;
  onFailure: 'cancel' | 'continue';
}

export const EMPTY_DRAFT: Draft = { name: '', description: '', onFailure: 'cancel', nodes: [], edges: [] };

/** Adds a node under a name of its own. @returns the draft, and the node's id */
export function addNode(draft: Draft, type: string, position?: Position): { draft: Draft; id: string } {
  const id = freeId(draft, type);
  const node: GraphNode = { id, type, config: { ...FIRST_CONFIG[type] }, position: position ?? freePlace(draft) };
  return { draft: { ...draft, nodes: [...draft.nodes, node] }, id };
}

/** Removes nodes with their edges, and edges by their ids. */
export function remove(draft: Draft, nodes: readonly string[], edges: readonly string[]): Draft {
  const gone = new Set(nodes);
  const cut = new Set(edges);
  return {
    ...draft,
    nodes: draft.nodes.filter(({ id }) => !gone.has(id)),
    edges: draft.edges.filter((edge) => !gone.has(edge.from) && !gone.has(edge.to) && !cut.has(edgeId(edge))),
  };
}

/** Adds an edge, unless it is there, leads back to its own node, or would close a circle. */
export function connect(draft: Draft, edge: GraphEdge): Draft {
  const known = draft.edges.some((it) => edgeId(it) === edgeId(edge));
  if (known || reaches(draft, edge.to, edge.from)) return draft;
  return { ...draft, edges: [...draft.edges, edge] };
}

export function disconnect(draft: Draft, edge: GraphEdge): Draft {
  return remove(draft, [], [edgeId(edge)]);
}

export function move(draft: Draft, moved: ReadonlyMap<string, Position>): Draft {
  return { ...draft, nodes: draft.nodes.map((node) => withPosition(node, moved.get(node.id))) };
}

/** Gives a node another id, in its edges too. Two nodes may have one id for a while: saving says so. */
export function rename(draft: Draft, index: number, id: string): Draft {
  const old = draft.nodes[index]?.id;
  const alone = draft.nodes.filter((node) => node.id === old).length === 1;
  const follow = (end: string): string => (alone && end === old ? id : end);
  return {
    ...draft,
    nodes: draft.nodes.map((node, at) => (at === index ? { ...node, id } : node)),
    edges: draft.edges.map(({ from, to }) => ({ from: follow(from), to: follow(to) })),
  };
}

/** Sets a member of a node's config; `undefined` and the empty text remove it. */
export function configure(draft: Draft, id: string, key: string, value: unknown): Draft {
  return {
    ...draft,
    nodes: draft.nodes.map((node) => {
      if (node.id !== id) return node;
      const { [key]: _old, ...rest } = node.config;
      return { ...node, config: value === undefined || value === '' ? rest : { ...node.config, [key]: value } };
    }),
  };
}

/** Whether a path of edges leads from one node to another, or they are one. */
export function reaches({ edges }: Graph, from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const at of seen) for (const edge of edges) if (edge.from === at) seen.add(edge.to);
  return seen.has(to);
}

function withPosition(node: GraphNode, position: Position | undefined): GraphNode {
  return position ? { ...node, position } : node;
}

/** A word that a `{{template}}` can name: the type and the first free number. */
function freeId({ nodes }: Draft, type: string): string {
  const taken = new Set(nodes.map(({ id }) => id));
  for (let number = 1; ; number += 1) if (!taken.has(`${type}${number}`)) return `${type}${number}`;
}

function freePlace({ nodes }: Draft): Position {
  const right = nodes.map(({ position }) => position).filter((it) => it !== undefined);
  if (right.length === 0) return { x: 0, y: 0 };
  const last = right.reduce((a, b) => (b.x > a.x ? b : a));
  return { x: last.x + 280, y: last.y };
}
