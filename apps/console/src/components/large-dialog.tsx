import { Maximize2, X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button } from './button.js';

/** Shows a button that opens its content in a large dialog. */
export function LargeDialog({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Dialog.Root>
      <Dialog.Trigger asChild>
        <Button kind="quiet" className="px-1.5!" aria-label={`Enlarge the ${title.toLowerCase()}`}>
          <Maximize2 className="size-4" aria-hidden />
        </Button>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 flex max-h-[90vh] w-[60rem] max-w-[94vw] -translate-1/2 flex-col rounded-lg border bg-card shadow-xl"
        >
          <header className="flex items-center border-b px-5 py-2">
            <Dialog.Title className="grow font-semibold">{title}</Dialog.Title>
            <Dialog.Close asChild>
              <Button kind="quiet" className="px-1.5!" aria-label="Close">
                <X className="size-4" aria-hidden />
              </Button>
            </Dialog.Close>
          </header>
          <div tabIndex={0} role="group" aria-label={`${title}, large`} className="overflow-auto p-5">
            {children}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
