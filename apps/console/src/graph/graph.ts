/** A workflow's node, edge and whole, as the API has them. */

export type Config = Record<string, unknown>;

export interface Position {
  x: number;
  y: number;
}

export interface GraphNode {
  id: string;
  type: string;
  config: Config;
  position?: Position;
}

export interface GraphEdge {
  from: string;
  to: string;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** Pixels of a node as the canvas draws it. */
export const NODE_WIDTH = 208;
export const NODE_HEIGHT = 60;

export function edgeId({ from, to }: GraphEdge): string {
  return `${from}->${to}`;
}

/** The kind of data that the palette's types are dragged as. */
export const DRAGGED_TYPE = 'application/x-parley-node-type';
