import type { ProblemDetail } from '../api/problem.js';
import { edgeIds, type Graph } from '../graph/graph.js';

/** Settings of a whole workflow that problems may name. */
const WORKFLOW_FIELDS = ['name', 'description', 'inputModes', 'deadline', 'parallel', 'budget', 'onExit'] as const;
export type WorkflowField = (typeof WORKFLOW_FIELDS)[number];

/** Problems of a draft, by the node, edge or setting that has them. */
export interface DraftProblems {
  /** Problems of nodes, by the node's index. */
  nodes: ReadonlyMap<number, readonly string[]>;
  /** Problems of edges, by the edge's id. */
  edges: ReadonlyMap<string, readonly string[]>;
  /** Problems of the workflow's settings. */
  fields: ReadonlyMap<WorkflowField, readonly string[]>;
  /** Problems that name no node, edge or setting. */
  rest: readonly string[];
}

export const NO_PROBLEMS: DraftProblems = { nodes: new Map(), edges: new Map(), fields: new Map(), rest: [] };

/**
 * Groups problems by the node, edge or setting in their `node`, `edge` or path (`nodes[2].id`, `edges[0].from`,
 * `name`).
 */
export function draftProblems(errors: readonly ProblemDetail[], draft: Graph): DraftProblems {
  const nodes = new Map<number, string[]>();
  const edges = new Map<string, string[]>();
  const fields = new Map<WorkflowField, string[]>();
  const rest: string[] = [];
  const ids = edgeIds(draft.edges);
  for (const problem of errors) {
    const { path, detail, offset } = problem;
    const [, kind, place, member] = /^(nodes|edges)\[(\d+)\](?:\.(.+))?$/.exec(path) ?? [];
    const index = place === undefined ? undefined : Number(place);
    const node = kind === 'nodes' ? index : kind === undefined ? findNodeIndex(problem.node, draft) : undefined;
    const [head = ''] = /^\w+/.exec(path) ?? [];
    const edge = ids[(kind === 'edges' ? index : problem.edge) ?? -1];
    const said = saysWhat(detail) ? detail : `${member ?? path} ${detail}`;
    const sentence = offset === undefined ? said : `${said} (${member ?? path}, character ${offset + 1})`;
    if (edge !== undefined) addProblem(edges, edge, sentence);
    else if (node !== undefined) addProblem(nodes, node, sentence);
    else if (isField(head)) addProblem(fields, head, sentence);
    else rest.push(sentence);
  }
  return { nodes, edges, fields, rest };
}

/** Returns the total number of problems of a draft. */
export function countProblems({ nodes, edges, fields, rest }: DraftProblems): number {
  return [...nodes.values(), ...edges.values(), ...fields.values(), rest].reduce(
    (sum, sentences) => sum + sentences.length,
    0,
  );
}

function isField(name: string): name is WorkflowField {
  return (WORKFLOW_FIELDS as readonly string[]).includes(name);
}

function findNodeIndex(id: string | undefined, { nodes }: Graph): number | undefined {
  const at = nodes.findIndex((node) => node.id === id);
  return at < 0 ? undefined : at;
}

/**
 * True for a problem text that is a whole sentence. Any other text, such as "must be a string", lacks a subject and is
 * shown after the name of its field.
 */
function saysWhat(detail: string): boolean {
  return !/^(must|should|is|may|has)\b/.test(detail);
}

function addProblem<K>(sorted: Map<K, string[]>, key: K, sentence: string): void {
  sorted.set(key, [...(sorted.get(key) ?? []), sentence]);
}
