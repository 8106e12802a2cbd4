import { Play } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { sentenceOf } from '../api/problem.js';
import { Button } from '../components/button.js';
import { Field, TextArea } from '../components/field.js';
import type { GraphNode } from '../graph/graph.js';
import type { Draft } from './draft.js';
import { inputNodes, startRun } from './workflow-api.js';

interface RunDialogProps {
  draft: Draft;
  dirty: boolean;
  /** @returns whether the service took the workflow */
  save: () => Promise<boolean>;
}

/** Asks for the inputs of a run and starts it; what is not saved is saved first. */
export function RunDialog({ draft, dirty, save }: RunDialogProps) {
  const [, navigate] = useLocation();
  const [open, setOpen] = useState(false);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const inputs = inputNodes(draft);
  const run = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    setBusy(true);
    try {
      if (dirty && !(await save())) return setOpen(false);
      const given = inputs
        .map((node) => ({ node, text: textOf(values.get(node.id)) }))
        .filter(({ node, text }) => text !== '' || !mayBeLeftOut(node))
        .map(({ node, text }) => [node.id, text] as const);
      const { runId } = await startRun(draft.name, Object.fromEntries(given));
      navigate(`~/runs/${encodeURIComponent(runId)}`);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger asChild>
        <Button kind="primary" disabled={draft.nodes.length === 0}>
          <Play className="size-4" aria-hidden /> Run
        </Button>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content className="fixed top-1/4 left-1/2 z-50 max-h-[70vh] w-[28rem] max-w-[92vw] -translate-x-1/2 overflow-y-auto rounded-lg border bg-card p-5 shadow-xl">
          <Dialog.Title className="font-semibold">Run {draft.name}</Dialog.Title>
          <Dialog.Description className="mt-1 mb-4 text-sm text-muted-foreground">
            {inputs.length === 0 ? 'This workflow takes no input.' : 'What the run begins with.'}
            {dirty && ' Your changes are saved first.'}
          </Dialog.Description>
          <form className="space-y-4" onSubmit={(event) => void run(event)}>
            {inputs.map((node) => (
              <Field key={node.id} label={mayBeLeftOut(node) ? `${node.id} (may be left out)` : node.id}>
                {(field) => <TextArea id={field} name={node.id} rows={3} placeholder={defaultOf(node)} />}
              </Field>
            ))}
            {error !== undefined && (
              <p role="alert" className="text-sm text-destructive">
                {sentenceOf(error)}
              </p>
            )}
            <div className="flex justify-end gap-2">
              <Dialog.Close asChild>
                <Button>Cancel</Button>
              </Dialog.Close>
              <Button kind="primary" type="submit" disabled={busy}>
                {dirty ? 'Save and run' : 'Start'}
              </Button>
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function mayBeLeftOut({ config }: GraphNode): boolean {
  return config['optional'] === true || config['default'] !== undefined;
}

function defaultOf({ config }: GraphNode): string | undefined {
  const value = config['default'];
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}

function textOf(value: FormDataEntryValue | null): string {
  return typeof value === 'string' ? value : '';
}
