import type { ProblemDetail } from '../api/problem.js';
import { edgeIds, type DefinitionEdge, type GraphNode } from '../graph/graph.js';
import type { Draft } from './draft.js';

/** A difference between two drafts. */
export interface DraftChange {
  kind: 'added' | 'changed' | 'removed';
  /** Readable name: `node writer`, `edge a → b`, `description`. */
  what: string;
}

/**
 * Returns the differences of two drafts: nodes, edges, and members of the workflow. Positions of nodes do not count.
 */
export function draftChanges(before: Draft, after: Draft): DraftChange[] {
  const { nodes: _before, edges: _edgesBefore, ...wholeBefore } = before;
  const { nodes: _after, edges: _edgesAfter, ...wholeAfter } = after;
  return [
    ...findDifferences(nodesOf(before), nodesOf(after)),
    ...findDifferences(edgesOf(before), edgesOf(after)),
    ...findDifferences(new Map(Object.entries(wholeBefore)), new Map(Object.entries(wholeAfter))),
  ];
}

/**
 * Returns a sentence for each credential that a model's changes removed, from the problems of the generation. The
 * checks of the canvas do not report such a loss.
 */
export function lostCredentials(problems: readonly ProblemDetail[]): string[] {
  return problems.filter(({ code }) => code === 'CREDENTIAL_LEFT_OUT').map(({ detail }) => detail);
}

function findDifferences(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): DraftChange[] {
  const found: DraftChange[] = [];
  for (const [what, value] of after) {
    if (!before.has(what)) found.push({ kind: 'added', what });
    else if (!isSame(before.get(what), value)) found.push({ kind: 'changed', what });
  }
  for (const what of before.keys()) if (!after.has(what)) found.push({ kind: 'removed', what });
  return found;
}

function nodesOf({ nodes }: Draft): Map<string, Omit<GraphNode, 'position'>> {
  return new Map(nodes.map(({ position: _position, ...node }) => [`node ${node.id}`, node]));
}

function edgesOf({ edges }: Draft): Map<string, DefinitionEdge> {
  const ids = edgeIds(edges);
  return new Map(edges.map((edge, index) => [`edge ${(ids[index] ?? '').replace('->', ' → ')}`, edge]));
}

/** Compares JSON values, ignoring the order of members. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [a, b] = [Object.entries(one), new Map(Object.entries(other))];
  return a.length === b.size && a.every(([name, value]) => b.has(name) && isSame(value, b.get(name)));
}
