import type { JsonObject } from '#libs/protocol';
import { ChangeCollector, type FieldChange } from './json-changes.js';
import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from './workflow.js';

/** Kind of a difference. `moved`: only the position in an editor differs. */
export const CHANGES = ['added', 'removed', 'changed', 'moved'] as const;
type Change = (typeof CHANGES)[number];

/** Node that differs between two definitions. */
export interface NodeChange {
  id: string;
  /** Type of the node; the new one if the type changed. */
  type: string;
  change: Change;
  /** Changed members; empty for a node that was added or removed. */
  fields: FieldChange[];
}

/** Edge that differs between two definitions. */
export interface EdgeChange {
  from: string;
  to: string;
  change: Exclude<Change, 'moved'>;
  /** Index of the edge in the definition after the change; for a removed edge, before it. */
  index: number;
  /** Changed members; empty for an edge that was added or removed. */
  fields: FieldChange[];
}

/** Differences of two definitions. A different order of nodes or edges is not a difference. */
export interface DefinitionDiff {
  /** Changed members other than nodes and edges. */
  fields: FieldChange[];
  nodes: NodeChange[];
  edges: EdgeChange[];
  /** True if there are more differences than are listed (`MOST_CHANGES`). */
  truncated: boolean;
}

/** Matches the path of the nodes of an inline workflow, such as `config.body.nodes`. */
const NODES = /\.nodes$/;

/** Compares two definitions. Nodes are matched by id, edges by their ends. */
export function diffDefinitions(before: WorkflowDefinition, after: WorkflowDefinition): DefinitionDiff {
  const changes = new ChangeCollector((path) => NODES.test(path));
  const nodes = diffNodes(before.nodes, after.nodes, changes);
  const edges = diffEdges(before.edges, after.edges, changes);
  const fields = changes.listChanges(otherMembers(before), otherMembers(after));
  return { fields, nodes, edges, truncated: changes.truncated };
}

function otherMembers({ nodes: _nodes, edges: _edges, ...others }: WorkflowDefinition): JsonObject {
  return asJson(others);
}

/** Converts a value to JSON. Members whose value is `undefined` are omitted. */
function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function diffNodes(
  before: readonly WorkflowNode[],
  after: readonly WorkflowNode[],
  changes: ChangeCollector,
): NodeChange[] {
  const old = new Map(before.map((node) => [node.id, node]));
  const current = new Map(after.map((node) => [node.id, node]));
  const found = after.flatMap((node): NodeChange[] => {
    const { id, type } = node;
    const was = old.get(id);
    if (!was) return changes.admitChange() ? [{ id, type, change: 'added', fields: [] }] : [];
    const fields = changes.listChanges(asJson(was), asJson(node));
    if (fields.length === 0) return [];
    const isMove = fields.every(({ path }) => /^position\b/.test(path));
    return [{ id, type, change: isMove ? 'moved' : 'changed', fields }];
  });
  const removed = before.filter(({ id }) => !current.has(id) && changes.admitChange());
  return [...found, ...removed.map(({ id, type }): NodeChange => ({ id, type, change: 'removed', fields: [] }))];
}

interface PlacedEdge {
  edge: WorkflowEdge;
  index: number;
  /** JSON text of the edge. */
  text: string;
}

function diffEdges(
  before: readonly WorkflowEdge[],
  after: readonly WorkflowEdge[],
  changes: ChangeCollector,
): EdgeChange[] {
  const old = edgesByEnds(before);
  const current = edgesByEnds(after);
  const ends = new Set([...current.keys(), ...old.keys()]);
  return [...ends].flatMap((key) => diffParallelEdges(old.get(key) ?? [], current.get(key) ?? [], changes));
}

function edgesByEnds(edges: readonly WorkflowEdge[]): Map<string, PlacedEdge[]> {
  const placed = edges.map((edge, index): PlacedEdge => ({ edge, index, text: JSON.stringify(edge) }));
  return Map.groupBy(placed, ({ edge }) => `${edge.from} ${edge.to}`);
}

/** Compares the edges that lead from one node to the same other node. Edges that differ are paired in their order. */
function diffParallelEdges(
  before: readonly PlacedEdge[],
  after: readonly PlacedEdge[],
  changes: ChangeCollector,
): EdgeChange[] {
  const old = withoutEqual(before, after);
  const current = withoutEqual(after, before);
  const found = current.flatMap((place, position): EdgeChange[] => {
    const was = old[position];
    if (!was) return changes.admitChange() ? [edgeChange(place, 'added')] : [];
    const fields = changes.listChanges(asJson(was.edge), asJson(place.edge));
    return fields.length > 0 ? [edgeChange(place, 'changed', fields)] : [];
  });
  const removed = old.slice(current.length).filter(() => changes.admitChange());
  return [...found, ...removed.map((place) => edgeChange(place, 'removed'))];
}

/** Returns the edges for which `others` has no equal edge. Each of the others is matched with at most one edge. */
function withoutEqual(edges: readonly PlacedEdge[], others: readonly PlacedEdge[]): PlacedEdge[] {
  const counts = new Map<string, number>();
  for (const { text } of others) counts.set(text, (counts.get(text) ?? 0) + 1);
  return edges.filter(({ text }) => {
    const count = counts.get(text) ?? 0;
    counts.set(text, count - 1);
    return count <= 0;
  });
}

function edgeChange({ edge, index }: PlacedEdge, change: EdgeChange['change'], fields: FieldChange[] = []): EdgeChange {
  return { from: edge.from, to: edge.to, change, index, fields };
}
