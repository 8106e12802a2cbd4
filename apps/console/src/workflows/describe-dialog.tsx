import { Sparkles } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { lazy, Suspense, useState } from 'react';
import { Button } from '../components/button.js';
import { Loading } from '../components/loading.js';
import type { DraftEditing } from './use-draft.js';

/** Component of the form, loaded when the dialog first opens. */
const DescribeForm = lazy(async () => ({ default: (await import('./describe-form.js')).DescribeForm }));

interface DescribeDialogProps {
  editing: DraftEditing;
  isNew: boolean;
}

/** Shows a dialog in which a model writes a workflow from a description; nothing is saved. */
export function DescribeDialog({ editing, isNew }: DescribeDialogProps) {
  const [open, setOpen] = useState(false);
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger asChild>
        <Button kind="quiet" title="Describe a workflow, and let a model write it">
          <Sparkles className="size-4" aria-hidden /> <span className="max-md:sr-only">Describe</span>
        </Button>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content className="fixed top-1/2 left-1/2 z-50 flex max-h-[90vh] w-[44rem] max-w-[94vw] -translate-1/2 flex-col gap-3 overflow-y-auto rounded-lg border bg-card p-5 shadow-xl">
          <Dialog.Title className="font-semibold">Describe a workflow</Dialog.Title>
          <Dialog.Description className="text-sm text-muted-foreground">
            A model writes it onto the canvas. Nothing is saved, and undo takes it back.
          </Dialog.Description>
          <Suspense fallback={<Loading />}>
            <DescribeForm editing={editing} isNew={isNew} onDone={() => setOpen(false)} />
          </Suspense>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
