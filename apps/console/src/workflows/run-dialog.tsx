import { Play } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { useAction, useAttemptKey } from '../api/use-action.js';
import { Button } from '../components/button.js';
import { InputsForm } from '../schema/inputs-form.js';
import { firstInputs, givenInputs } from '../schema/run-inputs.js';
import type { Draft } from './draft.js';
import { sampleInputs } from './sample-inputs.js';
import { inputNodes, startRun } from './workflow-api.js';

interface RunDialogProps {
  draft: Draft;
  dirty: boolean;
  /** Saves the workflow. Resolves with true if the service accepted it. */
  save: () => Promise<boolean>;
}

/** Shows a dialog that asks for the inputs of a run and starts it; unsaved changes are saved first. */
export function RunDialog(props: RunDialogProps) {
  const { draft, dirty } = props;
  const [open, setOpen] = useState(false);
  // The key is kept outside the form: if the answer was lost and the dialog is opened again, the same run is requested.
  const keyOf = useAttemptKey();
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger asChild>
        <Button kind="primary" disabled={draft.nodes.length === 0}>
          <Play className="size-4" aria-hidden /> Run
        </Button>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content className="fixed top-[10vh] left-1/2 z-50 max-h-[80vh] w-[32rem] max-w-[92vw] -translate-x-1/2 overflow-y-auto rounded-lg border bg-card p-5 shadow-xl">
          <Dialog.Title className="font-semibold">Run {draft.name}</Dialog.Title>
          <Dialog.Description className="mt-1 mb-4 text-sm text-muted-foreground">
            {inputNodes(draft).length === 0 ? 'This workflow takes no input.' : 'Inputs of the run.'}
            {dirty && ' Your changes are saved first.'}
          </Dialog.Description>
          <StartForm {...props} keyOf={keyOf} onClose={() => setOpen(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface StartFormProps extends RunDialogProps {
  keyOf: (body: unknown) => string;
  onClose: () => void;
}

function StartForm({ draft, dirty, save, keyOf, onClose }: StartFormProps) {
  const [, navigate] = useLocation();
  const action = useAction();
  const inputs = inputNodes(draft);
  const [values, setValues] = useState(() => firstInputs(inputs, sampleInputs(draft.name)));
  const startSavedRun = async (): Promise<void> => {
    if (dirty && !(await save())) return onClose();
    const given = givenInputs(inputs, values);
    const { runId } = await startRun(draft.name, given, keyOf([draft, given]));
    navigate(`~/runs/${encodeURIComponent(runId)}`);
  };
  const submitInputs = (event: FormEvent): void => {
    event.preventDefault();
    void action.run(startSavedRun);
  };
  return (
    <form className="space-y-4" onSubmit={submitInputs}>
      <InputsForm nodes={inputs} values={values} onChange={setValues} errorAt={action.errorAt} />
      {action.error !== undefined && (
        <p role="alert" className="text-sm text-destructive">
          {action.error}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" disabled={action.pending}>
          {dirty ? 'Save and run' : 'Start'}
        </Button>
      </div>
    </form>
  );
}
