/** A workflow's node, edge and graph, as in the API. Members that these types do not name are preserved. */

import type { Schemas } from '#libs/client';
import type { Narrowed } from '../api/http.js';

/** Body of the API in which only the members `K` are required; the others have defaults. */
export type Written<T, K extends keyof T> = Partial<T> & Pick<T, K>;

export type Config = Record<string, unknown>;
export type Position = Schemas['PositionBody'];
/** Outcome of an edge's source node (`on`) that makes the run take the edge. */
export type SourceOutcome = Schemas['WorkflowEdgeBody']['on'];
export type JoinRule = 'all' | 'any' | { n: number; cancelRest?: boolean };
/** Settings of a node that runs once for each entry of a list. */
export type Each = Written<Schemas['EachBody'], 'items'>;
/** Conditions and delays of retries. */
export type Retry = Written<Schemas['RetryBody'], 'attempts'>;
/** Settings of a loop's edge. */
export type LoopSettings = Written<Schemas['LoopBody'], 'max_iterations'>;

export type GraphNode = Written<
  Narrowed<
    Schemas['WorkflowNodeBody'],
    {
      config: Config;
      join: JoinRule;
      each?: Each;
      retry?: Retry;
      fallback?: { parts: unknown[] };
      output?: { schema?: unknown; parse?: boolean };
      onWait?: { deadline: string; default?: unknown };
    }
  >,
  'id' | 'type' | 'config'
>;

export type DefinitionEdge = Written<Narrowed<Schemas['WorkflowEdgeBody'], { loop?: LoopSettings }>, 'from' | 'to'>;

/** A text for people on the canvas; a run ignores it. */
export type Note = Schemas['NoteBody'];

export interface Graph {
  nodes: GraphNode[];
  edges: DefinitionEdge[];
  notes?: Note[];
}

/** Width of a node on the canvas, in pixels. */
export const NODE_WIDTH = 208;
/** Height of a node on the canvas, in pixels. */
export const NODE_HEIGHT = 60;

export function edgeId({ from, to }: DefinitionEdge): string {
  return `${from}->${to}`;
}

/** Returns the ids of edges, in order: `a->b`, and for a second edge between the same nodes `a->b#2`. */
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

/** Media type of the node type that a drag from the palette carries. */
export const DRAGGED_TYPE = 'application/x-parley-node-type';
