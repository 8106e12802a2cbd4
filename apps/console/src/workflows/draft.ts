import type { Schemas } from '#libs/client';
import {
  edgeId,
  edgeIds,
  type DefinitionEdge,
  type Graph,
  type GraphNode,
  isPlainEdge,
  type LoopSettings,
  type Position,
  type Written,
} from '../graph/graph.js';
import { isReachable } from '../graph/loops.js';
import { FIRST_CONFIG } from '../nodes/node-fields.js';
import { renameInEdge, renameInNode } from './clip/rename-references.js';

/** A node that runs once the run's outcome is known. */
export type Exit = Written<Schemas['ExitBody'], 'node'>;

type Settings = Pick<Schemas['WorkflowBody'], 'name' | 'onFailure' | 'inputModes' | 'deadline' | 'parallel' | 'budget'>;

/** A workflow being edited, with all other members of its definition. Every change creates a new draft. */
export interface Draft extends Graph, Settings {
  description: string;
  language?: Schemas['WorkflowBody']['language'];
  onExit?: Exit[];
}

/** Maximum numbers of nodes, edges and notes of a workflow. */
export const MOST_NODES = 1_000;
export const MOST_EDGES = 10_000;
export const MOST_NOTES = 100;

/** Offset in pixels from a node to the node that is added next. */
const STEP = { x: 280, y: 100 };

export const EMPTY_DRAFT: Draft = { name: '', description: '', onFailure: 'cancel', nodes: [], edges: [] };

/**
 * Adds a node with a free id, at `position` or else at a free place. Without a `position`, a node of any type other
 * than `input` is placed to the right of the node `after`, if that exists, and gets an edge from it.
 * @returns the draft and the node's id
 */
export function addNode(draft: Draft, type: string, position?: Position, after?: string): { draft: Draft; id: string } {
  const id = freeId(draft, type);
  const before = position || type === 'input' ? undefined : draft.nodes.find((it) => it.id === after);
  const place = position ?? (before?.position ? placeAfter(draft, before.position) : freePlace(draft));
  const node: GraphNode = { id, type, config: { ...FIRST_CONFIG[type] }, position: place };
  const added = { ...draft, nodes: [...draft.nodes, node] };
  return { draft: before ? connectNodes(added, { from: before.id, to: id }) : added, id };
}

/** Removes nodes with their edges and their entries in `onExit`, and edges by their ids. */
export function removeElements(draft: Draft, nodes: readonly string[], edges: readonly string[]): Draft {
  const gone = new Set(nodes);
  const cut = new Set(edges);
  const ids = edgeIds(draft.edges);
  const exits = draft.onExit?.filter(({ node }) => !gone.has(node));
  const { onExit: _onExit, ...rest } = draft;
  return {
    ...rest,
    nodes: draft.nodes.filter(({ id }) => !gone.has(id)),
    edges: draft.edges.filter(({ from, to }, at) => !gone.has(from) && !gone.has(to) && !cut.has(ids[at] ?? '')),
    ...(exits && exits.length > 0 && { onExit: exits }),
  };
}

/** Adds an edge. Returns the draft unchanged if the edge repeats a plain edge, or would close a cycle. */
export function connectNodes(draft: Draft, edge: DefinitionEdge): Draft {
  const known = draft.edges.some((it) => edgeId(it) === edgeId(edge) && isPlainEdge(it) && isPlainEdge(edge));
  return known || leadsBack(draft, edge) ? draft : { ...draft, edges: [...draft.edges, edge] };
}

/** True if an edge would close a cycle: only a loop's edge may do that. */
export function leadsBack({ edges }: Graph, { from, to }: DefinitionEdge): boolean {
  return isReachable(edges, to, from);
}

/** Adds a loop's edge. It replaces an earlier loop's edge between the same nodes. */
export function addLoop(draft: Draft, from: string, to: string, loop: LoopSettings): Draft {
  const others = draft.edges.filter((edge) => !(edge.loop && edge.from === from && edge.to === to));
  return { ...draft, edges: [...others, { from, to, loop }] };
}

/** Removes every edge between two nodes, except loops' edges. */
export function disconnectNodes(draft: Draft, { from, to }: DefinitionEdge): Draft {
  return { ...draft, edges: draft.edges.filter((it) => it.from !== from || it.to !== to || it.loop !== undefined) };
}

/** Sets members of the edge at an index; `undefined` removes a member. */
export function setEdge(draft: Draft, index: number, members: Partial<DefinitionEdge>): Draft {
  return {
    ...draft,
    edges: draft.edges.map((edge, at) => (at === index ? withMembers(edge, members) : edge)),
  };
}

/** Sets members of a node other than its config; `undefined` removes a member. */
export function setNode(draft: Draft, id: string, members: Partial<GraphNode>): Draft {
  return { ...draft, nodes: draft.nodes.map((node) => (node.id === id ? withMembers(node, members) : node)) };
}

/** Sets members of the workflow; `undefined` removes a member. */
export function setDraft(draft: Draft, members: Partial<Draft>): Draft {
  return withMembers(draft, members);
}

/**
 * Moves the edge at an index one place forward or back among the edges of its source. Their order matters if the source
 * takes only its first matching edge.
 */
export function moveEdge(draft: Draft, index: number, by: 1 | -1): Draft {
  const siblings = draft.edges.flatMap(({ from }, at) => (from === draft.edges[index]?.from ? [at] : []));
  const other = siblings[siblings.indexOf(index) + by];
  const [one, two] = [draft.edges[index], other === undefined ? undefined : draft.edges[other]];
  if (!one || !two) return draft;
  return { ...draft, edges: draft.edges.map((edge, at) => (at === index ? two : at === other ? one : edge)) };
}

export function moveNodes(draft: Draft, moved: ReadonlyMap<string, Position>): Draft {
  return { ...draft, nodes: draft.nodes.map((node) => withPosition(node, moved.get(node.id))) };
}

/**
 * Returns the draft with positions for all nodes. A node without a position is placed to the right of a node with an
 * edge to it, or at a free place. Nodes that have a position keep it.
 */
export function placeNew(draft: Draft): Draft {
  return draft.nodes.reduce((last, { id, position }) => {
    if (position) return last;
    const before = last.edges.filter((edge) => edge.to === id && edge.loop === undefined).map(({ from }) => from);
    const known = last.nodes.find((node) => before.includes(node.id) && node.position !== undefined)?.position;
    return moveNodes(last, new Map([[id, known ? placeAfter(last, known) : freePlace(last)]]));
  }, draft);
}

/** Ids that the service accepts. */
export const ID = /^\w[\w-]{0,63}$/;

/** Returns the reason why a node cannot have an id; `undefined` if it can. */
export function idFault({ nodes }: Draft, index: number, id: string): string | undefined {
  if (!ID.test(id)) return 'An id has 1 to 64 letters, digits, _ and -, and does not begin with -.';
  return nodes.some((node, at) => at !== index && node.id === id) ? 'Another node has this id.' : undefined;
}

/**
 * Renames a node, also in its edges, among the exit nodes, and in the texts and expressions of all nodes and edges. If
 * another node has the same id, which JSON allows, all these stay unchanged, and saving reports the id.
 */
export function renameNode(draft: Draft, index: number, id: string): Draft {
  const old = draft.nodes[index]?.id;
  const alone = draft.nodes.filter((node) => node.id === old).length === 1;
  if (!alone) return { ...draft, nodes: draft.nodes.map((node, at) => (at === index ? { ...node, id } : node)) };
  const rename = (known: string): string => (known === old ? id : known);
  return {
    ...draft,
    nodes: draft.nodes.map((node) => renameInNode(node, rename, draft.language)),
    edges: draft.edges.map((edge) => renameInEdge(edge, rename)),
    ...(draft.onExit && { onExit: draft.onExit.map((exit) => ({ ...exit, node: rename(exit.node) })) }),
  };
}

/** Sets a member of a node's config; `undefined` and the empty text remove it. */
export function setConfigMember(draft: Draft, id: string, key: string, value: unknown): Draft {
  return {
    ...draft,
    nodes: draft.nodes.map((node) => {
      if (node.id !== id) return node;
      const { [key]: _old, ...rest } = node.config;
      return { ...node, config: value === undefined || value === '' ? rest : { ...node.config, [key]: value } };
    }),
  };
}

function withMembers<T extends object>(of: T, members: Partial<T>): T {
  const kept = Object.entries({ ...of, ...members }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as T;
}

function withPosition(node: GraphNode, position: Position | undefined): GraphNode {
  return position ? { ...node, position } : node;
}

/** Returns a free id that a `{{template}}` can name: the type with a number. */
function freeId({ nodes }: Draft, type: string): string {
  const taken = new Set(nodes.map(({ id }) => id));
  for (let number = 1; ; number += 1) if (!taken.has(`${type}${number}`)) return `${type}${number}`;
}

/** Returns a free position to the right of another position, below nodes that are already there. */
function placeAfter({ nodes }: Draft, { x, y }: Position): Position {
  const place = { x: x + STEP.x, y };
  const isOccupied = (): boolean =>
    nodes.some(({ position: it }) => it && Math.abs(it.x - place.x) < STEP.x && Math.abs(it.y - place.y) < STEP.y);
  while (isOccupied()) place.y += STEP.y;
  return place;
}

function freePlace({ nodes }: Draft): Position {
  const right = nodes.map(({ position }) => position).filter((it) => it !== undefined);
  if (right.length === 0) return { x: 0, y: 0 };
  const last = right.reduce((a, b) => (b.x > a.x ? b : a));
  return { x: last.x + STEP.x, y: last.y };
}
