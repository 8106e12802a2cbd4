import type { GraphNode } from '../../graph/graph.js';
import type { Draft } from '../draft.js';

/** Props of a field of a node's config. */
export interface ConfigMember {
  draft: Draft;
  node: GraphNode;
  /** Path of the node in the draft: `nodes[2]`. */
  path: string;
  /** Sets a member of the config; `undefined` removes it. */
  onConfig: (key: string, value: unknown) => void;
  /** Enables `${expressions}` in this workflow (sets its language to 2). */
  onLanguage: () => void;
}
