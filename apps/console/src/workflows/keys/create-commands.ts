import { edgeIds } from '../../graph/graph.js';
import type { Clipboard } from '../clip/use-clipboard.js';
import { removeParts } from '../draft-parts.js';
import type { DraftEditing } from '../use-draft.js';
import type { Saving } from '../use-saving.js';
import type { Selection } from '../use-selection.js';
import { type CommandName, COMMANDS, type EditorCommand, type EditorCommands } from './editor-commands.js';

interface CommandContext {
  editing: DraftEditing;
  selection: Selection;
  saving: Saving;
  clipboard: Clipboard;
  isNew: boolean;
  tidyUp: () => void;
  addNote: () => void;
  openPalette: () => void;
  openHelp: () => void;
}

/** Returns the commands of the editor, each with its label, its keys and the function that runs it. */
export function createCommands(context: CommandContext): EditorCommands {
  const { editing, selection, saving, clipboard, isNew } = context;
  const { draft, change } = editing;
  const hasParts = selection.nodes.size + selection.notes.size > 0;
  const isAnySelected = hasParts || selection.edges.size > 0;
  const isEmpty = draft.nodes.length === 0 && draft.notes === undefined;
  const describe = (name: CommandName, run: () => unknown, isDisabled = false): EditorCommand => ({
    ...COMMANDS[name],
    isDisabled,
    run: () => void run(),
  });
  const deleteSelected = (): void => {
    change((last) => removeParts(last, selection));
    selection.selectNode(undefined);
  };
  const selectAll = (): void =>
    selection.selectParts({
      nodes: new Set(draft.nodes.map(({ id }) => id)),
      edges: new Set(edgeIds(draft.edges)),
      notes: new Set((draft.notes ?? []).keys()),
    });
  return {
    save: describe('save', saving.save, saving.busy || (!editing.dirty && !isNew)),
    palette: describe('palette', context.openPalette),
    undo: describe('undo', editing.undo, !editing.canUndo),
    redo: describe('redo', editing.redo, !editing.canRedo),
    selectAll: describe('selectAll', selectAll, isEmpty),
    selectNothing: describe('selectNothing', () => selection.selectNode(undefined), !isAnySelected),
    copy: describe('copy', clipboard.copy, !hasParts),
    cut: describe('cut', clipboard.cut, !hasParts),
    paste: describe('paste', () => clipboard.paste()),
    duplicate: describe('duplicate', clipboard.duplicate, !hasParts),
    delete: describe('delete', deleteSelected, !isAnySelected),
    addNote: describe('addNote', context.addNote),
    tidyUp: describe('tidyUp', context.tidyUp, draft.nodes.length === 0),
    help: describe('help', context.openHelp),
  };
}
