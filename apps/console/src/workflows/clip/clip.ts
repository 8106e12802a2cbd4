import type { DefinitionEdge, GraphNode, Note, Position } from '../../graph/graph.js';
import { type Draft, type Exit, ID, MOST_EDGES, MOST_NODES, MOST_NOTES, placeNew } from '../draft.js';
import { renameInEdge, renameInNode } from './rename-references.js';

/** Copied part of a workflow. */
export interface Clip {
  language?: Draft['language'];
  nodes: GraphNode[];
  /** Edges between the copied nodes. */
  edges: DefinitionEdge[];
  /** Entries of `onExit` for the copied nodes. */
  onExit: Exit[];
  notes: Note[];
}

/** Parts of a draft to copy: nodes by their ids, notes by their indexes. */
export interface ClipParts {
  nodes: ReadonlySet<string>;
  notes: ReadonlySet<number>;
}

/** Member that marks a text as a copied part of a workflow. */
const MARK = 'parley/canvas';
/** Maximum number of characters of a copied part: the size of a whole definition. */
const MOST_CHARACTERS = 256 * 1024;
/** Maximum depth of nested lists and objects in a copied part. */
const MOST_LEVELS = 100;
/** Offset of a pasted part, in pixels. It is added again until no existing node or note has the same position. */
const ASIDE = 40;
const NOT_OURS = 'The clipboard has no nodes: copy them on the canvas of a workflow first.';

/** Error of a text that cannot be pasted. Its message is a sentence for the person. */
export class UnusableClip extends Error {}

/** Copies nodes with the edges between them and their entries in `onExit`, and notes. */
export function copyPart(draft: Draft, { nodes, notes }: ClipParts): Clip {
  return {
    ...(draft.language !== undefined && { language: draft.language }),
    nodes: draft.nodes.filter(({ id }) => nodes.has(id)),
    edges: draft.edges.filter(({ from, to }) => nodes.has(from) && nodes.has(to)),
    onExit: (draft.onExit ?? []).filter(({ node }) => nodes.has(node)),
    notes: (draft.notes ?? []).filter((_note, index) => notes.has(index)),
  };
}

/** Formats a copied part as the text for the clipboard. */
export function clipText(clip: Clip): string {
  return JSON.stringify({ kind: MARK, ...clip });
}

/**
 * Parses a text of the clipboard.
 * @throws UnusableClip if the text is too large, is no copied part of a workflow, or is malformed
 */
export function readClip(text: string): Clip {
  if (text.length > MOST_CHARACTERS)
    throw new UnusableClip(`The clipboard has ${text.length} characters; at most ${MOST_CHARACTERS} can be pasted.`);
  const value = parseMarked(text);
  if (hasMoreLevels(value, MOST_LEVELS))
    throw new UnusableClip(`The copied part has more than ${MOST_LEVELS} levels of lists and objects.`);
  const nodes = readList(value, 'nodes', isNode, 'an id, a type and a config');
  const ids = new Set(nodes.map(({ id }) => id));
  if (ids.size < nodes.length) throw new UnusableClip('The copied part has two nodes with the same id.');
  const isInner = (edge: unknown): edge is DefinitionEdge => isEdge(edge) && ids.has(edge.from) && ids.has(edge.to);
  const isExit = (exit: unknown): exit is Exit => isObject(exit) && ids.has(exit['node'] as string);
  return {
    ...(value['language'] === 2 && { language: 2 as const }),
    nodes,
    edges: readList(value, 'edges', isInner, 'a from and a to among the copied nodes'),
    onExit: readList(value, 'onExit', isExit, 'a node among the copied nodes'),
    notes: readList(value, 'notes', isNote, 'a text and a position'),
  };
}

/** Draft with a pasted part, and the pasted nodes and notes. */
export interface Pasted {
  draft: Draft;
  nodes: string[];
  /** Indexes of the pasted notes. */
  notes: number[];
}

/**
 * Adds a copied part to a draft. A node whose id is taken gets a new id, and references to it inside the part are
 * changed to the new id. References to nodes outside the part stay unchanged.
 * @param at upper left corner of the pasted part; by default it is placed beside the originals
 * @throws UnusableClip if the draft would have too many nodes, edges or notes
 */
export function pastePart(draft: Draft, clip: Clip, at?: Position): Pasted {
  checkRoom('nodes', draft.nodes.length + clip.nodes.length, MOST_NODES);
  checkRoom('edges', draft.edges.length + clip.edges.length, MOST_EDGES);
  checkRoom('notes', (draft.notes?.length ?? 0) + clip.notes.length, MOST_NOTES);
  const newIds = findNewIds(draft, clip);
  const rename = (id: string): string => newIds.get(id) ?? id;
  const by = findShift(draft, clip, at);
  const nodes = clip.nodes.map((node) => shift(renameInNode(node, rename, clip.language), by));
  const onExit = [...(draft.onExit ?? []), ...clip.onExit.map((exit) => ({ ...exit, node: rename(exit.node) }))];
  const notes = [...(draft.notes ?? []), ...clip.notes.map((note) => shift(note, by))];
  const isFirst = draft.nodes.length === 0 && draft.language === undefined;
  const pasted: Draft = {
    ...draft,
    ...(isFirst && clip.language !== undefined && { language: clip.language }),
    nodes: [...draft.nodes, ...nodes],
    edges: [...draft.edges, ...clip.edges.map((edge) => renameInEdge(edge, rename))],
    ...(onExit.length > 0 && { onExit }),
    ...(notes.length > 0 && { notes }),
  };
  const firstNote = draft.notes?.length ?? 0;
  return {
    draft: placeNew(pasted),
    nodes: nodes.map(({ id }) => id),
    notes: clip.notes.map((_note, index) => firstNote + index),
  };
}

function parseMarked(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UnusableClip(NOT_OURS);
  }
  if (!isObject(value) || value['kind'] !== MARK) throw new UnusableClip(NOT_OURS);
  return value;
}

function readList<T>(
  value: Record<string, unknown>,
  name: string,
  isEntry: (entry: unknown) => entry is T,
  needs: string,
): T[] {
  const list = value[name];
  if (!Array.isArray(list)) throw new UnusableClip(`The copied part is damaged: ${name} is not a list.`);
  const wrong = list.findIndex((entry) => !isEntry(entry));
  if (wrong >= 0) throw new UnusableClip(`The copied part is damaged: ${name}[${wrong}] needs ${needs}.`);
  return list as T[];
}

function isNode(value: unknown): value is GraphNode {
  if (!isObject(value) || typeof value['id'] !== 'string' || typeof value['type'] !== 'string') return false;
  const { id, config, position } = value;
  return ID.test(id) && isObject(config) && (position === undefined || isPosition(position));
}

function isEdge(value: unknown): value is DefinitionEdge {
  return isObject(value) && typeof value['from'] === 'string' && typeof value['to'] === 'string';
}

function isNote(value: unknown): value is Note {
  return isObject(value) && typeof value['text'] === 'string' && isPosition(value['position']);
}

function isPosition(value: unknown): value is Position {
  return isObject(value) && Number.isFinite(value['x']) && Number.isFinite(value['y']);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True if lists and objects in a value are nested deeper than `levels`. */
function hasMoreLevels(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true;
    level = level.flatMap((it) => (typeof it === 'object' && it !== null ? Object.values(it as object) : []));
  }
  return false;
}

function checkRoom(what: string, count: number, most: number): void {
  if (count > most) throw new UnusableClip(`The workflow would have ${count} ${what}; at most ${most} are possible.`);
}

/**
 * Returns new ids for the copied nodes whose ids are taken. An id to which the part refers is never a new id; otherwise
 * a reference to another node would become a reference to a pasted node.
 */
function findNewIds(draft: Draft, { nodes, edges, language }: Clip): Map<string, string> {
  const present = new Set(draft.nodes.map(({ id }) => id));
  const taken = new Set([...present, ...nodes.map(({ id }) => id)]);
  const addTaken = (id: string): string => {
    taken.add(id);
    return id;
  };
  for (const node of nodes) renameInNode(node, addTaken, language);
  for (const edge of edges) renameInEdge(edge, addTaken);
  const found = new Map<string, string>();
  for (const { id } of nodes) if (present.has(id)) found.set(id, addTaken(freeCopyId(id, taken)));
  return found;
}

const LONGEST_ID = 64;

/** Returns an unused id derived from a taken one: `draft` gives `draft2`, `agent7` gives `agent8`. */
function freeCopyId(id: string, taken: ReadonlySet<string>): string {
  const [digits = ''] = /\d{0,9}$/.exec(id) ?? [];
  const base = id.slice(0, id.length - digits.length);
  for (let number = Math.max(2, Number(digits) + 1); ; number += 1) {
    const free = `${base.slice(0, LONGEST_ID - String(number).length)}${number}`;
    if (!taken.has(free)) return free;
  }
}

/**
 * Returns the distance by which to move a pasted part, in pixels. With `at`, the part's upper left corner is moved
 * there. Without `at`, the part is moved until no pasted node or note has the position of an existing one.
 */
function findShift(draft: Draft, clip: Clip, at: Position | undefined): Position {
  const places = [...clip.nodes, ...clip.notes].flatMap(({ position }) => position ?? []);
  const [first, ...rest] = places;
  if (!first) return { x: 0, y: 0 };
  const corner = rest.reduce((a, b) => ({ x: Math.min(a.x, b.x), y: Math.min(a.y, b.y) }), first);
  if (at) return { x: at.x - corner.x, y: at.y - corner.y };
  const parts = [...draft.nodes, ...(draft.notes ?? [])];
  const taken = new Set(parts.flatMap(({ position }) => (position ? [placeKey(position)] : [])));
  let by = 0;
  while (places.some(({ x, y }) => taken.has(placeKey({ x: x + by, y: y + by })))) by += ASIDE;
  return { x: by, y: by };
}

function placeKey({ x, y }: Position): string {
  return `${Math.round(x)} ${Math.round(y)}`;
}

function shift<T extends { position?: Position | null }>(part: T, { x, y }: Position): T {
  const { position } = part;
  return position ? { ...part, position: { ...position, x: position.x + x, y: position.y + y } } : part;
}
