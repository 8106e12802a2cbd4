import { collectReachable, loopsOf } from '../graph/loops.js';
import type { Draft } from './draft.js';

type DraftGraph = Pick<Draft, 'nodes' | 'edges' | 'onExit'>;

const PLACE = /^(nodes|edges)\[(\d+)\]/;

/**
 * Returns the ids of the nodes that run before a text or an expression is evaluated, so that it may refer to them:
 * - For a text of a node: the node's ancestors. An ancestor is a node from which edges other than loops' edges lead to
 *   the node.
 * - For an expression of an edge: the source of the edge, and the ancestors of the source.
 * - In both cases also all nodes of every loop that begins at an ancestor or contains the node (or the source). In such
 *   a loop, the nodes have run in this iteration or in an earlier one.
 * - For a text of an exit node, which runs at the end of a run (`onExit`): all nodes except the exit nodes.
 * The service warns about references to other nodes.
 * @param path path in the draft: `nodes[2].config.prompt` or `edges[3].when`
 */
export function findEarlierNodes(draft: DraftGraph, path: string): ReadonlySet<string> {
  const [, list, index = ''] = PLACE.exec(path) ?? [];
  if (list === 'nodes') return findNodesBefore(draft, draft.nodes[Number(index)]?.id ?? '');
  const source = draft.edges[Number(index)]?.from;
  return source === undefined ? new Set() : new Set([source, ...findNodesBefore(draft, source)]);
}

function findNodesBefore({ nodes, edges, onExit = [] }: DraftGraph, id: string): ReadonlySet<string> {
  const exits = new Set(onExit.map(({ node }) => node));
  if (exits.has(id)) return new Set(nodes.map((node) => node.id).filter((it) => !exits.has(it)));
  const ancestors = collectReachable(edges, id, 'to', 'from');
  ancestors.delete(id);
  const loops = loopsOf(edges).filter(({ body, to }) => body.has(id) || ancestors.has(to));
  return new Set([...ancestors, ...loops.flatMap(({ body }) => [...body])]);
}
