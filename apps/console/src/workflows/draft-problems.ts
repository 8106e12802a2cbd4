import type { FieldProblem } from '../api/problem.js';
import { edgeId, type Graph } from '../graph/graph.js';

/** What a refused save says, sorted by what it is about. */
export interface DraftProblems {
  /** By the node's place in the draft. */
  nodes: ReadonlyMap<number, readonly string[]>;
  /** By the edge's id. */
  edges: ReadonlyMap<string, readonly string[]>;
  /** About the name and the workflow as a whole. */
  rest: readonly string[];
}

export const NO_PROBLEMS: DraftProblems = { nodes: new Map(), edges: new Map(), rest: [] };

/** Sorts the problems of a 422 by their paths: `nodes[2].id`, `edges[0].from`, `name`. */
export function draftProblems(errors: readonly FieldProblem[], draft: Graph): DraftProblems {
  const nodes = new Map<number, string[]>();
  const edges = new Map<string, string[]>();
  const rest: string[] = [];
  for (const { path, detail } of errors) {
    const [, kind, place = '', member] = /^(nodes|edges)\[(\d+)\](?:\.(.+))?$/.exec(path) ?? [];
    const edge = kind === 'edges' ? draft.edges[Number(place)] : undefined;
    const sentence = saysWhat(detail) ? detail : `${member ?? path} ${detail}`;
    if (kind === 'nodes') add(nodes, Number(place), sentence);
    else if (edge) add(edges, edgeId(edge), sentence);
    else rest.push(sentence);
  }
  return { nodes, edges, rest };
}

/** "must be a string" needs the name of its field before it; whole sentences do not. */
function saysWhat(detail: string): boolean {
  return !/^(must|should|is|may|has)\b/.test(detail);
}

function add<K>(sorted: Map<K, string[]>, key: K, sentence: string): void {
  sorted.set(key, [...(sorted.get(key) ?? []), sentence]);
}
