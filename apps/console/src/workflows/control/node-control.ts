import type { GraphNode } from '../../graph/graph.js';
import { type Draft, setNode } from '../draft.js';
import type { DraftEditing } from '../use-draft.js';

/** Props of a section of a node's panel. */
export interface NodeControl {
  draft: Draft;
  node: GraphNode;
  /** Path of the node in the draft: `nodes[2]`. */
  path: string;
  change: DraftEditing['change'];
  onSelectEdge: (id: string) => void;
}

/** Sets members of the node. Consecutive changes of the same members are undone together. */
export function setMembers({ node, change }: NodeControl, members: Partial<GraphNode>): void {
  change((draft) => setNode(draft, node.id, members), `${node.id} ${Object.keys(members).join(' ')}`);
}
