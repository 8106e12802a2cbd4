import { Trash2 } from 'lucide-react';
import { AlertDialog } from 'radix-ui';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { sentenceOf } from '../api/problem.js';
import { Button } from '../components/button.js';
import { deleteWorkflow } from './workflow-api.js';

export function DeleteWorkflow({ name }: { name: string }) {
  const [, navigate] = useLocation();
  const [error, setError] = useState<unknown>();
  const deleteAndLeave = async (): Promise<void> => {
    try {
      await deleteWorkflow(name);
      navigate('~/workflows');
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <AlertDialog.Root>
      <AlertDialog.Trigger asChild>
        <Button kind="quiet" aria-label="Delete workflow" title="Delete workflow">
          <Trash2 className="size-4" aria-hidden />
        </Button>
      </AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <AlertDialog.Content className="fixed top-1/3 left-1/2 z-50 w-96 max-w-[92vw] -translate-x-1/2 space-y-3 rounded-lg border bg-card p-5 shadow-xl">
          <AlertDialog.Title className="font-semibold">Delete {name}?</AlertDialog.Title>
          <AlertDialog.Description className="text-sm text-muted-foreground">
            Its runs stay, and active runs continue. No new run can be started.
          </AlertDialog.Description>
          {error !== undefined && (
            <p role="alert" className="text-sm text-destructive">
              {sentenceOf(error)}
            </p>
          )}
          <div className="flex justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>Keep it</Button>
            </AlertDialog.Cancel>
            <Button kind="danger" onClick={() => void deleteAndLeave()}>
              Delete
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
