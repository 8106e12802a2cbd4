import type { GraphNode } from '../../graph/graph.js';
import type { Draft } from '../draft.js';

/** What a field of a node's config is given. */
export interface ConfigMember {
  draft: Draft;
  node: GraphNode;
  /** Where the node stands: `nodes[2]`. */
  path: string;
  /** Sets a member of the config; `undefined` removes it. */
  onConfig: (key: string, value: unknown) => void;
  /** Makes `${expressions}` count in this workflow. */
  onLanguage: () => void;
}
