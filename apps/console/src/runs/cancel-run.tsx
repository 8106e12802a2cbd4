import { CircleStop } from 'lucide-react';
import { useState } from 'react';
import { sentenceOf } from '../api/problem.js';
import { Button } from '../components/button.js';
import { cancelRun } from './run-api.js';

/** Shows a button that cancels a run; the outcome arrives with the run's events. */
export function CancelRun({ runId }: { runId: string }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const requestCancel = (): void => {
    setBusy(true);
    cancelRun(runId)
      .then(() => setError(undefined), setError)
      .finally(() => setBusy(false));
  };
  return (
    <>
      {error !== undefined && (
        <span role="alert" className="text-sm text-destructive">
          {sentenceOf(error)}
        </span>
      )}
      <Button kind="danger" disabled={busy} onClick={requestCancel}>
        <CircleStop className="size-4" aria-hidden /> {busy ? 'Cancelling …' : 'Cancel run'}
      </Button>
    </>
  );
}
