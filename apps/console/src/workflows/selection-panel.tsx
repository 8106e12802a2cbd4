import type { EditorCommands } from './keys/editor-commands.js';
import { Button } from '../components/button.js';
import type { SelectedParts } from './use-selection.js';

interface SelectionPanelProps {
  selection: SelectedParts;
  commands: EditorCommands;
}

/** Shows the actions for several selected parts of a workflow. */
export function SelectionPanel({ selection: { nodes, edges, notes }, commands }: SelectionPanelProps) {
  const counts = [
    [nodes.size, 'node'],
    [edges.size, 'edge'],
    [notes.size, 'note'],
  ] as const;
  return (
    <div className="space-y-4">
      <h2 className="font-semibold">Selection</h2>
      <p className="text-sm">
        {counts
          .flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}${count === 1 ? '' : 's'}`]))
          .join(', ')}
      </p>
      <div className="flex flex-wrap gap-2">
        {([commands.copy, commands.cut, commands.duplicate] as const).map(({ label, isDisabled, run }) => (
          <Button key={label} disabled={isDisabled} onClick={run}>
            {label}
          </Button>
        ))}
        <Button kind="danger" onClick={commands.delete.run}>
          Delete
        </Button>
      </div>
      <p className="text-xs text-muted-foreground">
        Drag one of the nodes, or press an arrow key on it, to move them all. Press ? for all keys.
      </p>
    </div>
  );
}
