import { Dialog } from 'radix-ui';
import { Button } from '../../components/button.js';
import { COMMANDS, shortcutText } from './editor-commands.js';

/** Gestures of the mouse and the keyboard on the canvas that are not commands, each with its effect. */
const GESTURES: readonly (readonly [keys: string, effect: string])[] = [
  ['Shift+drag', 'Select with a box'],
  ['Ctrl+click, Shift+click', 'Add to the selection, or remove from it'],
  ['Tab', 'Go to the next node or edge'],
  ['Enter', 'Select the node or edge that has the focus'],
  ['Ctrl+Enter', 'Add it to the selection, or remove it'],
  ['Arrow keys', 'Move the selected nodes'],
  ['Right click, menu key, Shift+F10', 'Open the menu of a node, an edge or the canvas'],
];

interface KeysDialogProps {
  open: boolean;
  onClose: () => void;
}

/** Shows a dialog with the keys of the editor. */
export function KeysDialog({ open, onClose }: KeysDialogProps) {
  const commands = Object.values(COMMANDS).filter(({ shortcuts }) => shortcuts.length > 0);
  return (
    <Dialog.Root open={open} onOpenChange={(is) => !is && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 max-h-[90vh] w-[32rem] max-w-[92vw] -translate-1/2 space-y-4 overflow-y-auto rounded-lg border bg-card p-5 shadow-xl"
        >
          <Dialog.Title className="font-semibold">Keys of the editor</Dialog.Title>
          <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
            {commands.map(({ label, shortcuts }) => (
              <Row key={label} keys={shortcuts.map(shortcutText).join(', ')} effect={label} />
            ))}
            {GESTURES.map(([keys, effect]) => (
              <Row key={keys} keys={keys} effect={effect} />
            ))}
          </dl>
          <p className="text-xs text-muted-foreground">
            On a Mac, use Cmd for Ctrl. In a field, the keys have their usual meaning; only Ctrl+S and Ctrl+K work
            there, too.
          </p>
          <div className="flex justify-end">
            <Dialog.Close asChild>
              <Button>Close</Button>
            </Dialog.Close>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Row({ keys, effect }: { keys: string; effect: string }) {
  return (
    <>
      <dt>
        <kbd className="font-mono text-xs">{keys}</kbd>
      </dt>
      <dd>{effect}</dd>
    </>
  );
}
