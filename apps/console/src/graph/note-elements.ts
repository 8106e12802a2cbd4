import type { Node } from '@xyflow/react';
import type { Note, Position } from './graph.js';

/** Data of a note on the canvas. */
interface NoteData extends Record<string, unknown> {
  text: string;
  /** True if a panel shows the whole text of the note when it is selected. */
  hasPanel: boolean;
}

export type NoteElement = Node<NoteData, 'note'>;

/** Width of a note on the canvas, in pixels. */
const NOTE_WIDTH = 220;
/** Height of a note on the canvas, in pixels. */
const NOTE_HEIGHT = 110;

const SIZE = { width: NOTE_WIDTH, height: NOTE_HEIGHT };
/** Start of a note's id on the canvas. No id of a node has a colon. */
const PREFIX = 'note:';

/** Returns the index of a note by its id on the canvas; `undefined` for a node. */
export function noteIndex(id: string): number | undefined {
  return id.startsWith(PREFIX) ? Number(id.slice(PREFIX.length)) : undefined;
}

export interface NoteState {
  /** Positions of the notes that are being dragged. */
  dragged: ReadonlyMap<number, Position>;
  selected: ReadonlySet<number>;
  editable: boolean;
}

/** Returns the notes of a graph for the canvas, behind its nodes. */
export function noteElements(notes: readonly Note[], { dragged, selected, editable }: NoteState): NoteElement[] {
  return notes.map(({ text, position }, index) => ({
    id: `${PREFIX}${index}`,
    type: 'note',
    position: dragged.get(index) ?? position,
    ...SIZE,
    measured: SIZE,
    zIndex: -1,
    selected: selected.has(index),
    selectable: editable,
    focusable: editable,
    ariaLabel: `Note: ${text}`,
    data: { text, hasPanel: editable },
  }));
}
