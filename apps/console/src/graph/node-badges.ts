import type { Graph, GraphNode, JoinRule } from './graph.js';
import type { CardBadge } from './card-data.js';

/** A graph with its exit nodes (`onExit`), which run at the end of a run. */
export interface Badged extends Graph {
  onExit?: readonly { node: string; on?: string }[] | undefined;
}

/** Returns the badges of a node's card, which show the settings of the node's execution. */
export function badgesOf(graph: Badged, node: GraphNode): CardBadge[] {
  const { each, retry, timeout, fallback, onWait } = node;
  const join = node.join === undefined ? undefined : joinBadge(node.join, countIncoming(graph, node.id));
  const exit = graph.onExit?.find((it) => it.node === node.id);
  return [
    ...(join === undefined ? [] : [createStartBadge(join, `Starts when ${join} of its incoming edges are taken`)]),
    ...(exit ? [createStartBadge('at the end', `Runs at the end of the run: ${exit.on ?? 'always'}`)] : []),
    ...(each ? [createEndBadge('each', `Once for each entry of ${each.items}`)] : []),
    ...(retry ? [createEndBadge(`${retry.attempts}×`, `Up to ${retry.attempts} attempts`)] : []),
    ...(timeout === undefined ? [] : [createEndBadge(timeout, `An attempt takes at most ${timeout}`)]),
    ...(fallback ? [createEndBadge('fallback', 'Has a fallback for when it fails')] : []),
    ...(onWait ? [createEndBadge(`asks ${onWait.deadline}`, `Waits at most ${onWait.deadline} for an answer`)] : []),
  ];
}

/** Counts the edges to a node, except edges of loops. */
export function countIncoming({ edges }: Graph, id: string): number {
  return edges.filter(({ to, loop }) => to === id && !loop).length;
}

function joinBadge(join: JoinRule, edges: number): string | undefined {
  if (join === 'all') return undefined;
  const n = join === 'any' ? 1 : join.n;
  return n === 1 ? 'any' : `${n} of ${edges}`;
}

function createStartBadge(text: string, title: string): CardBadge {
  return { text, title, at: 'start' };
}

function createEndBadge(text: string, title: string): CardBadge {
  return { text, title, at: 'end' };
}
