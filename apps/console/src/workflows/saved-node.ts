import type { GraphNode } from '../graph/graph.js';
import type { Draft } from './draft.js';

/** State of a node beside the saved workflow. A node of another type is another node. */
type SavedState = 'same' | 'changed' | 'missing';

/** Compares a node with the node of the same id in the saved workflow. Positions do not count. */
export function savedStateOf(node: GraphNode, { nodes }: Pick<Draft, 'nodes'>): SavedState {
  const saved = nodes.find(({ id, type }) => id === node.id && type === node.type);
  if (!saved) return 'missing';
  return textOf(saved) === textOf(node) ? 'same' : 'changed';
}

function textOf(node: GraphNode): string {
  return JSON.stringify({ ...node, position: undefined });
}
