import { Dialog } from 'radix-ui';
import { useState } from 'react';
import { Button } from '../components/button.js';
import type { DefinitionEdge, LoopSettings } from '../graph/graph.js';
import { addLoop, type Draft } from './draft.js';
import { LoopFields, NEW_LOOP } from './loop-fields.js';

interface LoopDialogProps {
  draft: Draft;
  /** Edge that would close a cycle; the dialog is hidden without an edge. */
  edge: DefinitionEdge | undefined;
  onClose: () => void;
  onMake: (loop: LoopSettings) => void;
}

/** Shows a dialog that offers a loop for an edge that would close a cycle. */
export function LoopDialog({ draft, edge, onClose, onMake }: LoopDialogProps) {
  return (
    <Dialog.Root open={edge !== undefined} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content className="fixed top-1/2 left-1/2 z-50 max-h-[90vh] w-[28rem] max-w-[92vw] -translate-1/2 space-y-4 overflow-y-auto rounded-lg border bg-card p-5 shadow-xl">
          {edge && <NewLoop draft={draft} edge={edge} onMake={onMake} />}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface NewLoopProps {
  draft: Draft;
  edge: DefinitionEdge;
  onMake: (loop: LoopSettings) => void;
}

function NewLoop({ draft, edge: { from, to }, onMake }: NewLoopProps) {
  const [loop, setLoop] = useState(NEW_LOOP);
  const made = addLoop(draft, from, to, loop);
  return (
    <>
      <div>
        <Dialog.Title className="font-semibold">Make this a loop?</Dialog.Title>
        <Dialog.Description className="mt-1 text-sm text-muted-foreground">
          {from === to
            ? `${from} would come after itself. As a loop it is repeated.`
            : `${to} comes before ${from}. As a loop, the nodes between them are repeated.`}
        </Dialog.Description>
      </div>
      <LoopFields loop={loop} path={`edges[${made.edges.length - 1}]`} draft={made} onChange={setLoop} />
      <div className="flex justify-end gap-2">
        <Dialog.Close asChild>
          <Button>Leave it</Button>
        </Dialog.Close>
        <Button kind="primary" onClick={() => onMake(loop)}>
          Make a loop
        </Button>
      </div>
    </>
  );
}
