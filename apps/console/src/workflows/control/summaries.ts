import type { DefinitionEdge, GraphNode, JoinRule } from '../../graph/graph.js';

/**
 * Returns in a few words when a node starts, such as `at 2 of 3`; `undefined` if it waits for all of its edges and has
 * fewer than two.
 * @param edges number of the node's incoming edges
 */
export function joinSummary(join: JoinRule | undefined, edges: number): string | undefined {
  if (join === undefined || join === 'all') return edges > 1 ? 'when all are done' : undefined;
  if (join === 'any') return 'at the first of them';
  const rest = join.cancelRest ? ', cancels the rest' : '';
  return join.n === 1 ? `at the first of them${rest}` : `at ${join.n} of ${edges}${rest}`;
}

export function followSummary({ id, branch }: GraphNode, edges: readonly DefinitionEdge[]): string | undefined {
  const next = edges.filter(({ from, loop }) => from === id && !loop);
  if (next.length === 0) return 'nothing';
  const targets = [...new Set(next.map(({ to }) => to))];
  const list = targets.length > 2 ? `${targets.slice(0, 2).join(', ')}, …` : targets.join(', ');
  return branch === 'first' ? `the first of ${list}` : list;
}

export function eachSummary({ each }: GraphNode): string | undefined {
  return each && `${each.items || 'a list'}, ${each.concurrency ?? 5} at once`;
}

export function failureSummary(
  { id, retry, timeout, fallback }: GraphNode,
  edges: readonly DefinitionEdge[],
): string | undefined {
  const handled = edges.some(({ from, on }) => from === id && (on === 'failure' || on === 'always'));
  const words = [
    ...(retry ? [`${retry.attempts} attempts`] : []),
    ...(timeout === undefined ? [] : [`${timeout} at most`]),
    ...(fallback ? ['a fallback'] : []),
    ...(handled ? ['continues elsewhere'] : []),
  ];
  return words.length > 0 ? words.join(', ') : undefined;
}

export function resultSummary({ output }: GraphNode): string | undefined {
  if (!output) return undefined;
  const words = [
    ...(output.parse ? ['JSON out of its text'] : []),
    ...(output.schema === undefined ? [] : ['checked']),
  ];
  return words.length > 0 ? words.join(', ') : undefined;
}

export function waitSummary({ onWait }: GraphNode): string | undefined {
  if (!onWait) return undefined;
  return `${onWait.deadline}, then ${onWait.default === undefined ? 'it fails' : 'a default'}`;
}
