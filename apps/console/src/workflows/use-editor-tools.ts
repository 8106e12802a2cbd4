import { useState } from 'react';
import type { CanvasTarget } from '../graph/canvas-target.js';
import type { Position } from '../graph/graph.js';
import type { PluginType } from '../nodes/plugin-types.js';
import { type Clipboard, useClipboard } from './clip/use-clipboard.js';
import { type CommandItem, nodeItems, typeItems } from './command-items.js';
import { moveNodes } from './draft.js';
import { addNote } from './draft-parts.js';
import { createCommands } from './keys/create-commands.js';
import { COMMANDS, type EditorCommands, shortcutText } from './keys/editor-commands.js';
import { useEditorKeys } from './keys/use-editor-keys.js';
import { paletteGroups } from './palette.js';
import type { DraftEditing } from './use-draft.js';
import type { Saving } from './use-saving.js';
import type { Selection } from './use-selection.js';

interface ToolsContext {
  editing: DraftEditing;
  selection: Selection;
  saving: Saving;
  plugins: readonly PluginType[];
  isNew: boolean;
  addNode: (type: string) => void;
}

/** Tools of the canvas: actions, keys, clipboard, and the overlays that offer them. */
export interface EditorTools {
  clipboard: Clipboard;
  commands: EditorCommands;
  /** Choices of the command palette. */
  items: readonly CommandItem[];
  /** The overlay that is open. */
  overlay: 'palette' | 'help' | CanvasTarget | undefined;
  openMenu: (target: CanvasTarget) => void;
  closeOverlay: () => void;
  addNote: (position: Position) => void;
  /** Number of times that the nodes were laid out. The canvas shows the whole graph whenever it changes. */
  fits: number;
}

/** Manages the tools of the canvas. */
export function useEditorTools({ plugins, addNode, ...context }: ToolsContext): EditorTools {
  const { editing, selection } = context;
  const { draft, change } = editing;
  const [overlay, setOverlay] = useState<EditorTools['overlay']>();
  const [fits, setFits] = useState(0);
  const clipboard = useClipboard(editing, selection);
  const tidyUp = async (): Promise<void> => {
    const { layoutAside } = await import('../graph/layout-aside.js');
    const places = await layoutAside(draft);
    change((last) => moveNodes(last, places));
    setFits((last) => last + 1);
  };
  const addNoteAt = (position: Position): void => {
    const made = addNote(draft, position);
    if (made === draft) return;
    change(() => made);
    selection.selectParts({ notes: new Set([(made.notes?.length ?? 1) - 1]) });
  };
  const commands = createCommands({
    ...{ ...context, clipboard },
    tidyUp: () => void tidyUp(),
    addNote: () => addNoteAt(placeAbove(draft.nodes)),
    openPalette: () => setOverlay('palette'),
    openHelp: () => setOverlay('help'),
  });
  useEditorKeys(commands);
  const types = paletteGroups(plugins).flatMap((group) => group.types);
  return {
    clipboard,
    commands,
    items: overlay === 'palette' ? listItems() : [],
    overlay,
    openMenu: (target) => {
      selectTarget(target, selection);
      setOverlay(target);
    },
    closeOverlay: () => setOverlay(undefined),
    addNote: addNoteAt,
    fits,
  };

  function listItems(): CommandItem[] {
    return [...commandItems(commands), ...typeItems(types, addNode), ...nodeItems(draft.nodes, selection.selectNode)];
  }
}

/** Selects the part whose menu opens, unless it is one of several selected parts. */
function selectTarget({ node, edge, note, isPane }: CanvasTarget, selection: Selection): void {
  if (isPane) return;
  if (node !== undefined && !selection.nodes.has(node)) selection.selectNode(node);
  if (note !== undefined && !selection.notes.has(note)) selection.selectParts({ notes: new Set([note]) });
  if (edge !== undefined) selection.selectEdge(edge);
}

function commandItems({ palette: _palette, ...commands }: EditorCommands): CommandItem[] {
  return Object.entries(commands).map(([name, { label, isDisabled, run }]) => ({
    group: 'Action',
    label,
    detail: COMMANDS[name as keyof typeof COMMANDS].shortcuts.slice(0, 1).map(shortcutText).join(''),
    isDisabled,
    run,
  }));
}

/** Pixels from a new note to the nodes below it. */
const ABOVE = 160;

/** Returns a position above all nodes, for a new note. */
function placeAbove(nodes: readonly { position?: Position }[]): Position {
  const places = nodes.flatMap(({ position }) => position ?? []);
  const [first] = places;
  if (!first) return { x: 0, y: 0 };
  return places.reduce((at, { x, y }) => ({ x: Math.min(at.x, x), y: Math.min(at.y, y - ABOVE) }), {
    x: first.x,
    y: first.y - ABOVE,
  });
}
