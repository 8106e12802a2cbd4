import type { GraphNode } from '../../graph/graph.js';
import { type Draft, setNode } from '../draft.js';
import type { DraftEditing } from '../use-draft.js';

/** What a part of a node's panel is given. */
export interface NodeControl {
  draft: Draft;
  node: GraphNode;
  /** Its place in the draft: `nodes[2]`. */
  path: string;
  change: DraftEditing['change'];
  onSelectEdge: (id: string) => void;
}

/** Sets members of the node; changes of one member are undone together. */
export function setMembers({ node, change }: NodeControl, members: Partial<GraphNode>): void {
  change((draft) => setNode(draft, node.id, members), `${node.id} ${Object.keys(members).join(' ')}`);
}
