import type { EdgeReport } from '../graph/flow-elements.js';
import { edgeIds } from '../graph/graph.js';
import { badgesOf } from '../graph/node-badges.js';
import type { CardData } from '../graph/card-data.js';
import type { Draft } from './draft.js';
import type { DraftProblems } from './draft-problems.js';

/** Content of the canvas for the nodes and edges of a draft. */
export interface DraftView {
  node: (id: string) => Partial<CardData>;
  edge: (index: number) => EdgeReport;
}

export function draftView(draft: Draft, found: { errors: DraftProblems; warnings: DraftProblems }): DraftView {
  const { errors, warnings } = found;
  const cards = new Map(
    draft.nodes.map((node, at): [string, Partial<CardData>] => [
      node.id,
      {
        problems: errors.nodes.get(at) ?? [],
        warnings: warnings.nodes.get(at) ?? [],
        badges: badgesOf(draft, node),
        stacked: node.each !== undefined,
      },
    ]),
  );
  const ids = edgeIds(draft.edges);
  return {
    node: (id) => cards.get(id) ?? {},
    edge: (index) => ({ problems: errors.edges.get(ids[index] ?? '') ?? [] }),
  };
}
