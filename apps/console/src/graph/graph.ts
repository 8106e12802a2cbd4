/** A workflow's node, edge and whole, as the API has them. What a type here does not name is kept as it came. */

export type Config = Record<string, unknown>;

export interface Position {
  x: number;
  y: number;
}

/** Which outcomes of its source an edge is for. */
export type Outcome = 'success' | 'failure' | 'always';

export type Join = 'all' | 'any' | { n: number; cancelRest?: boolean };

/** Runs a node once for each entry of a list. */
export interface Each {
  /** CEL. */
  items: string;
  concurrency?: number;
  maxItems?: number;
  onFailure?: 'fail' | 'collect';
  minSuccess?: number | string;
}

/** When a failed attempt is made again. */
export interface Retry {
  attempts: number;
  on?: string[];
  /** CEL. */
  when?: string;
  delay?: string;
  factor?: number;
  maxDelay?: string;
  jitter?: number;
}

/** An edge back. */
export interface LoopSettings {
  max_iterations: number;
  /** CEL. */
  exit_when?: string;
  delay?: string;
  on_max?: 'continue' | 'fail';
  initial?: string;
}

export interface GraphNode {
  id: string;
  type: string;
  config: Config;
  position?: Position;
  branch?: 'every' | 'first';
  join?: Join;
  each?: Each;
  retry?: Retry;
  timeout?: string;
  fallback?: { parts: unknown[] };
  output?: { schema?: unknown; parse?: boolean };
  onWait?: { deadline: string; default?: unknown };
}

export interface GraphEdge {
  from: string;
  to: string;
  /** CEL. */
  when?: string;
  on?: Outcome;
  loop?: LoopSettings;
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

/** The ids of edges, in their order. The second edge between the same nodes is `a->b#2`. */
export function edgeIds(edges: readonly GraphEdge[]): string[] {
  const seen = new Map<string, number>();
  return edges.map((edge) => {
    const id = edgeId(edge);
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count === 1 ? id : `${id}#${count}`;
  });
}

/** Whether an edge says no more than what comes after what. */
export function isPlainEdge({ when, on, loop }: GraphEdge): boolean {
  return when === undefined && on === undefined && loop === undefined;
}

/** The kind of data that the palette's types are dragged as. */
export const DRAGGED_TYPE = 'application/x-parley-node-type';
