import type { Note, Position } from '../graph/graph.js';
import type { MovedParts } from '../graph/use-node-changes.js';
import { type Draft, MOST_NOTES, moveNodes, removeElements } from './draft.js';
import type { SelectedParts } from './use-selection.js';

/** Removes nodes with their edges and their entries in `onExit`, edges, and notes. */
export function removeParts(draft: Draft, { nodes, edges, notes }: SelectedParts): Draft {
  const rest = removeElements(draft, [...nodes], [...edges]);
  return notes.size === 0
    ? rest
    : withNotes(
        rest,
        notesOf(rest).filter((_note, index) => !notes.has(index)),
      );
}

/** Moves nodes and notes. */
export function moveParts(draft: Draft, { nodes, notes }: MovedParts): Draft {
  const moved = nodes.size === 0 ? draft : moveNodes(draft, nodes);
  if (notes.size === 0) return moved;
  const all = notesOf(moved).map((note, index) => ({ ...note, position: notes.get(index) ?? note.position }));
  return withNotes(moved, all);
}

/** Adds an empty note, unless the draft has the maximum number of notes. */
export function addNote(draft: Draft, position: Position): Draft {
  const notes = notesOf(draft);
  return notes.length >= MOST_NOTES ? draft : withNotes(draft, [...notes, { text: '', position }]);
}

/** Sets the text of the note at an index. */
export function setNoteText(draft: Draft, index: number, text: string): Draft {
  return withNotes(
    draft,
    notesOf(draft).map((note, at) => (at === index ? { ...note, text } : note)),
  );
}

function notesOf({ notes }: Draft): readonly Note[] {
  return notes ?? [];
}

function withNotes(draft: Draft, notes: readonly Note[]): Draft {
  const { notes: _notes, ...rest } = draft;
  return notes.length > 0 ? { ...rest, notes: [...notes] } : rest;
}
