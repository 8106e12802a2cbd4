import { History } from 'lucide-react';
import { AlertDialog } from 'radix-ui';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { queries } from '../../api/queries.js';
import { useAction } from '../../api/use-action.js';
import { Button } from '../../components/button.js';
import { FieldError } from '../../components/field.js';
import { historyHref, restoreRevision } from './revision-api.js';

interface RestoreRevisionProps {
  name: string;
  revision: string;
  /** Name of the newest revision of the workflow. */
  newest: string;
}

/** Shows a button that saves an earlier revision as the newest one, after a confirmation. */
export function RestoreRevision({ name, revision, newest }: RestoreRevisionProps) {
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const action = useAction();
  const restore = (): Promise<void> =>
    action.run(async () => {
      const saved = await restoreRevision(name, revision, newest);
      await queries.invalidateQueries({ queryKey: ['revisions', name] });
      setOpen(false);
      navigate(historyHref(name, saved.revision));
    });
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={setOpen}>
      <AlertDialog.Trigger asChild>
        <Button>
          <History className="size-4" aria-hidden /> Restore revision {revision}
        </Button>
      </AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <AlertDialog.Content className="fixed top-1/3 left-1/2 z-50 w-96 max-w-[92vw] -translate-x-1/2 space-y-3 rounded-lg border bg-card p-5 shadow-xl">
          <AlertDialog.Title className="font-semibold">Restore revision {revision}?</AlertDialog.Title>
          <AlertDialog.Description className="text-sm text-muted-foreground">
            Its definition is saved as the newest revision of {name}. Revision {newest} stays in the history, and active
            runs keep theirs.
          </AlertDialog.Description>
          <FieldError error={action.error} />
          <div className="flex justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <Button kind="primary" disabled={action.pending} onClick={() => void restore()}>
              Restore
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
