import type { NodeProps } from '@xyflow/react';
import type { NoteElement } from './note-elements.js';

/** Shows a note on the canvas. A long text scrolls, unless the note has a panel that shows it. */
export function NoteCard({ data: { text, hasPanel }, selected }: NodeProps<NoteElement>) {
  return (
    <div
      data-note
      {...(!hasPanel && { tabIndex: 0, role: 'note' })}
      className={`h-full w-full ${hasPanel ? 'overflow-hidden' : 'nowheel overflow-y-auto'} rounded-md border border-warning/50 bg-warning/10 p-2 text-left text-xs wrap-anywhere whitespace-pre-wrap text-foreground ${selected ? 'ring-2 ring-ring' : ''}`}
    >
      {text === '' ? 'Empty note' : text}
    </div>
  );
}
