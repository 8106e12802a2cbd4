import { RotateCcw } from 'lucide-react';
import { useLocation } from 'wouter';
import { useAction, useAttemptKey } from '../api/use-action.js';
import { CommandButton } from '../components/command-button.js';
import { FieldError } from '../components/field.js';
import { requestRerun } from './run-api.js';

/** Shows a button that reruns a run from an instance of a node, as a new run. Earlier results are reused. */
export function RerunFrom({ runId, name }: { runId: string; name: string }) {
  const [, navigate] = useLocation();
  const action = useAction();
  const keyOf = useAttemptKey();
  const startRerun = async (): Promise<void> => {
    const body = { from: [name] };
    const made = await requestRerun(runId, body, keyOf(body));
    navigate(`~/runs/${encodeURIComponent(made.runId)}`);
  };
  return (
    <div className="space-y-1">
      <CommandButton
        action={action}
        work={startRerun}
        title="A new run that reuses the results before this node"
        className="text-left wrap-anywhere whitespace-normal!"
      >
        <RotateCcw className="size-4 shrink-0" aria-hidden /> Run again from {name}
      </CommandButton>
      <FieldError error={action.error} />
    </div>
  );
}
