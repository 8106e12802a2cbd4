import { DropdownMenu } from 'radix-ui';
import type { CanvasTarget } from '../graph/canvas-target.js';
import type { Position } from '../graph/graph.js';
import { type CommandName, type EditorCommands, shortcutText } from './keys/editor-commands.js';

/** Actions of the menu of a node, a note or a group of selected parts. */
const OF_PARTS: readonly CommandName[] = ['copy', 'cut', 'duplicate', 'delete'];
const OF_PANE: readonly CommandName[] = ['palette', 'selectAll', 'tidyUp', 'undo', 'redo', 'help'];

interface CanvasMenuProps {
  /** Part of the canvas whose menu is open. */
  target: CanvasTarget | undefined;
  commands: EditorCommands;
  onPaste: (place: Position) => void;
  onAddNote: (place: Position) => void;
  onClose: () => void;
}

/** Shows the context menu of a node, an edge, a note or the canvas. */
export function CanvasMenu({ target, commands, onPaste, onAddNote, onClose }: CanvasMenuProps) {
  if (!target) return null;
  const closeAndRun = (run: () => void): void => {
    onClose();
    run();
  };
  const names = target.isPane ? OF_PANE : target.edge === undefined ? OF_PARTS : (['delete'] as const);
  return (
    <DropdownMenu.Root open modal={false} onOpenChange={(open) => !open && onClose()}>
      <DropdownMenu.Trigger
        aria-hidden
        tabIndex={-1}
        className="pointer-events-none fixed size-0"
        style={{ left: target.screen.x, top: target.screen.y }}
      />
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="start"
          aria-label={labelOf(target)}
          aria-labelledby={undefined}
          onContextMenu={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (target.element?.isConnected) target.element.focus();
          }}
          className="z-50 min-w-52 rounded-md border bg-card p-1 text-sm shadow-lg"
        >
          {target.isPane && (
            <>
              <Item label="Paste here" keys="" onChoose={() => closeAndRun(() => onPaste(target.place))} />
              <Item label="Add a note" keys="" onChoose={() => closeAndRun(() => onAddNote(target.place))} />
            </>
          )}
          {names.map((name) => (
            <Item
              key={name}
              label={commands[name].label}
              keys={commands[name].shortcuts.slice(0, 1).map(shortcutText).join('')}
              disabled={commands[name].isDisabled}
              onChoose={() => closeAndRun(commands[name].run)}
            />
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface ItemProps {
  label: string;
  keys: string;
  disabled?: boolean;
  onChoose: () => void;
}

function Item({ label, keys, disabled = false, onChoose }: ItemProps) {
  return (
    <DropdownMenu.Item
      disabled={disabled}
      onSelect={(event) => {
        // The action may open a dialog: the menu is closed first.
        event.preventDefault();
        onChoose();
      }}
      className="flex cursor-pointer justify-between gap-6 rounded px-2.5 py-1.5 outline-none data-[disabled]:cursor-default data-[disabled]:text-muted-foreground data-[highlighted]:bg-muted"
    >
      {label}
      {keys !== '' && (
        <kbd aria-hidden className="font-mono text-xs text-muted-foreground">
          {keys}
        </kbd>
      )}
    </DropdownMenu.Item>
  );
}

function labelOf({ node, edge, note, isPane }: CanvasTarget): string {
  if (isPane) return 'Canvas';
  if (edge !== undefined) return `Edge ${edge}`;
  if (note !== undefined) return 'Note';
  return node === undefined ? 'Selected parts' : `Node ${node}`;
}
