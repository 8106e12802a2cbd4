/** Key combination that runs a command. */
export interface Shortcut {
  /** Value of `KeyboardEvent.key`, in lower case. */
  key: string;
  ctrl?: boolean;
  shift?: boolean;
  /** True if the browser reports these keys as an event of the clipboard. */
  isNative?: boolean;
  /** True if the keys also work in a field. */
  isInFields?: boolean;
}

/** An action of the editor, for the keys, the command palette and the context menu. */
export interface EditorCommand {
  label: string;
  shortcuts: readonly Shortcut[];
  isDisabled: boolean;
  run: () => void;
}

/** Names of the editor's commands. */
export type CommandName =
  | 'save'
  | 'palette'
  | 'undo'
  | 'redo'
  | 'selectAll'
  | 'selectNothing'
  | 'copy'
  | 'cut'
  | 'paste'
  | 'duplicate'
  | 'delete'
  | 'addNote'
  | 'tidyUp'
  | 'help';

export type EditorCommands = Readonly<Record<CommandName, EditorCommand>>;

/** Labels and keys of the actions, in the order of the help. */
export const COMMANDS: Readonly<Record<CommandName, Pick<EditorCommand, 'label' | 'shortcuts'>>> = {
  save: { label: 'Save', shortcuts: [{ key: 's', ctrl: true, isInFields: true }] },
  palette: { label: 'Find nodes and actions', shortcuts: [{ key: 'k', ctrl: true, isInFields: true }] },
  undo: { label: 'Undo', shortcuts: [{ key: 'z', ctrl: true }] },
  redo: {
    label: 'Redo',
    shortcuts: [
      { key: 'y', ctrl: true },
      { key: 'z', ctrl: true, shift: true },
    ],
  },
  selectAll: { label: 'Select all', shortcuts: [{ key: 'a', ctrl: true }] },
  selectNothing: { label: 'Select nothing', shortcuts: [{ key: 'escape' }] },
  copy: { label: 'Copy', shortcuts: [{ key: 'c', ctrl: true, isNative: true }] },
  cut: { label: 'Cut', shortcuts: [{ key: 'x', ctrl: true, isNative: true }] },
  paste: { label: 'Paste', shortcuts: [{ key: 'v', ctrl: true, isNative: true }] },
  duplicate: { label: 'Duplicate', shortcuts: [{ key: 'd', ctrl: true }] },
  delete: { label: 'Delete', shortcuts: [{ key: 'delete' }, { key: 'backspace' }] },
  addNote: { label: 'Add a note', shortcuts: [] },
  tidyUp: { label: 'Tidy up', shortcuts: [] },
  help: { label: 'Show the keys', shortcuts: [{ key: '?' }] },
};

const NAMES: Readonly<Record<string, string>> = { delete: 'Delete', backspace: 'Backspace', escape: 'Esc' };

/** Returns a shortcut as a person reads it, such as `Ctrl+S`. */
export function shortcutText({ key, ctrl, shift }: Shortcut): string {
  return [...(ctrl ? ['Ctrl'] : []), ...(shift ? ['Shift'] : []), NAMES[key] ?? key.toUpperCase()].join('+');
}

/** True if an event of the keyboard is a shortcut. */
export function isShortcut(
  {
    key,
    ctrlKey,
    metaKey,
    altKey,
    shiftKey,
  }: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>,
  shortcut: Shortcut,
): boolean {
  // The question mark has Shift on some keyboards.
  const isShifted = shortcut.key === '?' || shiftKey === (shortcut.shift ?? false);
  const isControlled = (ctrlKey || metaKey) === (shortcut.ctrl ?? false);
  return key.toLowerCase() === shortcut.key && isControlled && isShifted && !altKey;
}
