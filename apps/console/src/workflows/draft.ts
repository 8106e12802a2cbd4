import {
  edgeId,
  edgeIds,
  type GraphEdge,
  type Graph,
  type GraphNode,
  isPlainEdge,
  type LoopSettings,
  type Outcome,
  type Position,
} from '../graph/graph.js';
import { reaches } from '../graph/loops.js';
import { FIRST_CONFIG } from '../nodes/node-fields.js';

/** A node that runs when the run's outcome is known. */
export interface Exit {
  node: string;
  on?: Outcome;
}

/** A workflow while it is edited, with whatever else its definition says. Every change gives a new one. */
export interface Draft extends Graph {
  name: string;
  description: string;
  onFailure: 'cancel' | 'continue';
  language?: number;
  deadline?: string;
  parallel?: number;
  onExit?: Exit[];
}

/** From one node to the next that is added. */
const STEP = { x: 280, y: 100 };

export const EMPTY_DRAFT: Draft = { name: '', description: '', onFailure: 'cancel', nodes: [], edges: [] };

/**
 * Adds a node under a name of its own. One that is given no place follows another one, if that is there: it stands right
 * of it, and an edge leads there. @returns the draft, and the node's id
 */
export function addNode(draft: Draft, type: string, position?: Position, after?: string): { draft: Draft; id: string } {
  const id = freeId(draft, type);
  const before = position || type === 'input' ? undefined : draft.nodes.find((it) => it.id === after);
  const place = position ?? (before?.position ? placeAfter(draft, before.position) : freePlace(draft));
  const node: GraphNode = { id, type, config: { ...FIRST_CONFIG[type] }, position: place };
  const added = { ...draft, nodes: [...draft.nodes, node] };
  return { draft: before ? connect(added, { from: before.id, to: id }) : added, id };
}

/** Removes nodes with their edges, and edges by their ids. */
export function remove(draft: Draft, nodes: readonly string[], edges: readonly string[]): Draft {
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

/** Adds an edge, unless it says nothing new, leads back to its own node, or would close a circle. */
export function connect(draft: Draft, edge: GraphEdge): Draft {
  const known = draft.edges.some((it) => edgeId(it) === edgeId(edge) && isPlainEdge(it) && isPlainEdge(edge));
  return known || leadsBack(draft, edge) ? draft : { ...draft, edges: [...draft.edges, edge] };
}

/** Whether an edge would close a circle, and so can only be one that repeats what lies between its ends. */
export function leadsBack({ edges }: Graph, { from, to }: GraphEdge): boolean {
  return reaches(edges, to, from);
}

/** Adds an edge back; of two between the same nodes the new one counts. */
export function addLoop(draft: Draft, from: string, to: string, loop: LoopSettings): Draft {
  const others = draft.edges.filter((edge) => !(edge.loop && edge.from === from && edge.to === to));
  return { ...draft, edges: [...others, { from, to, loop }] };
}

/** Removes every edge between two nodes, but those back. */
export function disconnect(draft: Draft, { from, to }: GraphEdge): Draft {
  return { ...draft, edges: draft.edges.filter((it) => it.from !== from || it.to !== to || it.loop !== undefined) };
}

/** Sets members of an edge; `undefined` removes one. */
export function setEdge(draft: Draft, index: number, members: Partial<GraphEdge>): Draft {
  return {
    ...draft,
    edges: draft.edges.map((edge, at) => (at === index ? withMembers(edge, members) : edge)),
  };
}

/** Sets members of a node beside its config; `undefined` removes one. */
export function setNode(draft: Draft, id: string, members: Partial<GraphNode>): Draft {
  return { ...draft, nodes: draft.nodes.map((node) => (node.id === id ? withMembers(node, members) : node)) };
}

/** Sets members of the workflow as a whole; `undefined` removes one. */
export function setDraft(draft: Draft, members: Partial<Draft>): Draft {
  return withMembers(draft, members);
}

/** Moves an edge among those that leave its node: where one of them is taken, the order counts. */
export function moveEdge(draft: Draft, index: number, by: 1 | -1): Draft {
  const siblings = draft.edges.flatMap(({ from }, at) => (from === draft.edges[index]?.from ? [at] : []));
  const other = siblings[siblings.indexOf(index) + by];
  const [one, two] = [draft.edges[index], other === undefined ? undefined : draft.edges[other]];
  if (!one || !two) return draft;
  return { ...draft, edges: draft.edges.map((edge, at) => (at === index ? two : at === other ? one : edge)) };
}

export function move(draft: Draft, moved: ReadonlyMap<string, Position>): Draft {
  return { ...draft, nodes: draft.nodes.map((node) => withPosition(node, moved.get(node.id))) };
}

/** Places each node without a place right of one that leads to it; the others stay where they are. */
export function placeNew(draft: Draft): Draft {
  return draft.nodes.reduce((last, { id, position }) => {
    if (position) return last;
    const before = last.edges.filter((edge) => edge.to === id && edge.loop === undefined).map(({ from }) => from);
    const known = last.nodes.find((node) => before.includes(node.id) && node.position !== undefined)?.position;
    return move(last, new Map([[id, known ? placeAfter(last, known) : freePlace(last)]]));
  }, draft);
}

/** What the service takes for an id. */
const ID = /^\w[\w-]{0,63}$/;

/** Why a node cannot have an id; `undefined` where it can. */
export function idFault({ nodes }: Draft, index: number, id: string): string | undefined {
  if (!ID.test(id)) return 'An id has 1 to 64 letters, digits, _ and -, and does not begin with -.';
  return nodes.some((node, at) => at !== index && node.id === id) ? 'Another node has this id.' : undefined;
}

/** Gives a node another id, in its edges too. Two nodes may have one id, from JSON: saving says so. */
export function rename(draft: Draft, index: number, id: string): Draft {
  const old = draft.nodes[index]?.id;
  const alone = draft.nodes.filter((node) => node.id === old).length === 1;
  const follow = (end: string): string => (alone && end === old ? id : end);
  return {
    ...draft,
    nodes: draft.nodes.map((node, at) => (at === index ? { ...node, id } : node)),
    edges: draft.edges.map((edge) => ({ ...edge, from: follow(edge.from), to: follow(edge.to) })),
    ...(draft.onExit && { onExit: draft.onExit.map((exit) => ({ ...exit, node: follow(exit.node) })) }),
  };
}

/** Sets a member of a node's config; `undefined` and the empty text remove it. */
export function configure(draft: Draft, id: string, key: string, value: unknown): Draft {
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

/** A word that a `{{template}}` can name: the type and the first free number. */
function freeId({ nodes }: Draft, type: string): string {
  const taken = new Set(nodes.map(({ id }) => id));
  for (let number = 1; ; number += 1) if (!taken.has(`${type}${number}`)) return `${type}${number}`;
}

/** Right of a place, and below what stands there already. */
function placeAfter({ nodes }: Draft, { x, y }: Position): Position {
  const place = { x: x + STEP.x, y };
  const isTaken = (): boolean =>
    nodes.some(({ position: it }) => it && Math.abs(it.x - place.x) < STEP.x && Math.abs(it.y - place.y) < STEP.y);
  while (isTaken()) place.y += STEP.y;
  return place;
}

function freePlace({ nodes }: Draft): Position {
  const right = nodes.map(({ position }) => position).filter((it) => it !== undefined);
  if (right.length === 0) return { x: 0, y: 0 };
  const last = right.reduce((a, b) => (b.x > a.x ? b : a));
  return { x: last.x + STEP.x, y: last.y };
}
