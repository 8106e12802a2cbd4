/** A workflow's node, edge and graph, as in the API. Members that these types do not name are preserved. */

export type Config = Record<string, unknown>;

export interface Position {
  x: number;
  y: number;
}

/** Outcome of the source for which an edge is taken. */
export type SourceOutcome = 'success' | 'failure' | 'always';

export type JoinRule = 'all' | 'any' | { n: number; cancelRest?: boolean };

/** Settings of a node that runs once for each entry of a list. */
export interface Each {
  /** CEL expression. */
  items: string;
  concurrency?: number;
  maxItems?: number;
  onFailure?: 'fail' | 'collect';
  minSuccess?: number | string;
}

/** Conditions and delays of retries. */
export interface Retry {
  attempts: number;
  on?: string[];
  /** CEL expression. */
  when?: string;
  delay?: string;
  factor?: number;
  maxDelay?: string;
  jitter?: number;
}

/** Settings of a loop's edge. */
export interface LoopSettings {
  max_iterations: number;
  /** CEL expression. */
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
  join?: JoinRule;
  each?: Each;
  retry?: Retry;
  timeout?: string;
  fallback?: { parts: unknown[] };
  output?: { schema?: unknown; parse?: boolean };
  onWait?: { deadline: string; default?: unknown };
}

export interface DefinitionEdge {
  from: string;
  to: string;
  /** CEL expression. */
  when?: string;
  on?: SourceOutcome;
  loop?: LoopSettings;
}

export interface Graph {
  nodes: GraphNode[];
  edges: DefinitionEdge[];
}

/** Pixels of a node on the canvas. */
export const NODE_WIDTH = 208;
export const NODE_HEIGHT = 60;

export function edgeId({ from, to }: DefinitionEdge): string {
  return `${from}->${to}`;
}

/** Returns the ids of edges, in order. The second edge between the same nodes is `a->b#2`. */
export function edgeIds(edges: readonly DefinitionEdge[]): string[] {
  const seen = new Map<string, number>();
  return edges.map((edge) => {
    const id = edgeId(edge);
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count === 1 ? id : `${id}#${count}`;
  });
}

/** True if an edge has no condition and no loop. */
export function isPlainEdge({ when, on, loop }: DefinitionEdge): boolean {
  return when === undefined && on === undefined && loop === undefined;
}

/** Media type of a node type that is dragged from the palette. */
export const DRAGGED_TYPE = 'application/x-parley-node-type';
