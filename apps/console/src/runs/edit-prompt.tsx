import { Pencil } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { useAction, useAttemptKey } from '../api/use-action.js';
import { Button } from '../components/button.js';
import { FieldError } from '../components/field.js';
import { requestRerun } from './run-api.js';

interface EditPromptProps {
  runId: string;
  /** Name of the node's instance whose prompt is edited. */
  name: string;
  /** Prompt that the model was sent. */
  prompt: string;
}

/** Shows a button that opens the prompt for editing. The edited prompt starts a rerun from the instance. */
export function EditPrompt(props: EditPromptProps) {
  const [open, setOpen] = useState(false);
  if (open) return <EditForm {...props} onClose={() => setOpen(false)} />;
  return (
    <Button onClick={() => setOpen(true)}>
      <Pencil className="size-4" aria-hidden /> Edit and run again
    </Button>
  );
}

function EditForm({ runId, name, prompt, onClose }: EditPromptProps & { onClose: () => void }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState(prompt);
  const action = useAction();
  const keyOf = useAttemptKey();
  const id = useId();
  const submitEdit = (event: FormEvent): void => {
    event.preventDefault();
    void action.run(async () => {
      const body = { from: [name], edit: { node: name, prompt: text } };
      const made = await requestRerun(runId, body, keyOf(body));
      navigate(`~/runs/${encodeURIComponent(made.runId)}/nodes/${encodeURIComponent(name)}`);
    });
  };
  return (
    <form onSubmit={submitEdit} className="space-y-2">
      <label htmlFor={id} className="block text-xs font-medium">
        Edited prompt
      </label>
      <textarea
        id={id}
        required
        value={text}
        rows={6}
        onChange={({ target }) => setText(target.value)}
        className="w-full rounded-md border border-input bg-background p-2 font-mono text-xs"
      />
      <p className="text-xs text-muted-foreground">
        A new run sends this text as it is. It reuses the results before {name}; the workflow does not change.
      </p>
      <FieldError error={action.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="primary"
          type="submit"
          disabled={action.pending || text.trim() === ''}
          className="wrap-anywhere whitespace-normal!"
        >
          Run again from {name}
        </Button>
      </div>
    </form>
  );
}
