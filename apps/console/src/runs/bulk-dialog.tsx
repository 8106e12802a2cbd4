import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Dialog } from 'radix-ui';
import { useState } from 'react';
import { Link } from 'wouter';
import { newId } from '../api/new-id.js';
import { retryFailed } from '../api/queries.js';
import { useAction } from '../api/use-action.js';
import { Button } from '../components/button.js';
import { CheckField } from '../components/choice-fields.js';
import { ErrorState } from '../components/error-state.js';
import { FieldError } from '../components/field.js';
import { Loading } from '../components/loading.js';
import { actOnRuns, type BulkAction, type BulkOutcome, type BulkReport, type BulkSelection } from './bulk-api.js';

const TITLES: Readonly<Record<BulkAction, string>> = {
  cancel: 'Cancel runs',
  rerun: 'Run again',
  'rerun-failed': 'Run again what failed',
};
/** Verbs and participles of the actions. */
const VERBS: Readonly<Record<BulkAction, { button: string; done: string }>> = {
  cancel: { button: 'Cancel', done: 'canceled' },
  rerun: { button: 'Run again', done: 'started again' },
  'rerun-failed': { button: 'Run again', done: 'started again' },
};

interface BulkDialogProps {
  action: BulkAction;
  selection: BulkSelection;
  onClose: () => void;
}

/** Shows what an action would do with each run, asks for a confirmation, acts, and reports the outcome of each run. */
export function BulkDialog({ action, selection, onClose }: BulkDialogProps) {
  const [key] = useState(newId);
  const [newest, setNewest] = useState(false);
  const [report, setReport] = useState<BulkReport>();
  const acting = useAction();
  const dryRun = useQuery({
    queryKey: ['bulk', key, newest],
    queryFn: () => actOnRuns(action, selection, { dryRun: true, key: newId(), newest }),
    placeholderData: keepPreviousData,
  });
  // The action takes the runs of the dry run: meanwhile the filter may select others.
  const possible = dryRun.data?.runs.filter(({ outcome }) => outcome === 'possible') ?? [];
  const confirmAction = (): Promise<void> =>
    acting.run(async () => {
      const ids = dryRun.data!.runs.map(({ runId }) => runId);
      setReport(await actOnRuns(action, { ids }, { dryRun: false, key, newest }));
    });
  const shown = report ?? dryRun.data;
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-50 flex max-h-[90vh] w-[44rem] max-w-[94vw] -translate-1/2 flex-col rounded-lg border bg-card shadow-xl"
        >
          <Dialog.Title className="border-b px-5 py-3 font-semibold">{TITLES[action]}</Dialog.Title>
          {shown ? (
            <ReportView report={shown} action={action} />
          ) : dryRun.failureReason ? (
            <ErrorState error={dryRun.failureReason} onRetry={retryFailed} />
          ) : (
            <Loading />
          )}
          <footer className="flex flex-wrap items-center justify-end gap-2 border-t px-5 py-3">
            {action !== 'cancel' && !report && (
              <div className="mr-auto">
                <CheckField label="With the newest revision" checked={newest} onChange={setNewest} />
              </div>
            )}
            <FieldError error={acting.error} />
            <Button onClick={onClose}>{report ? 'Done' : 'Back'}</Button>
            {!report && (
              <Button
                kind={action === 'cancel' ? 'danger' : 'primary'}
                disabled={possible.length === 0 || dryRun.isPlaceholderData || acting.pending}
                onClick={() => void confirmAction()}
              >
                {acting.pending ? 'Working …' : `${VERBS[action].button} ${countRuns(possible.length)}`}
              </Button>
            )}
          </footer>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Shows the number of runs by outcome. In the list of runs, refused and pending ones come first. */
function ReportView({ report, action }: { report: BulkReport; action: BulkAction }) {
  const { dryRun, runs, more } = report;
  const runsWith = (wanted: BulkOutcome['outcome']): BulkOutcome[] => runs.filter(({ outcome }) => outcome === wanted);
  const [good, refused, pending] = [
    [...runsWith('possible'), ...runsWith('done')],
    runsWith('refused'),
    runsWith('pending'),
  ];
  const sums = [
    `${countRuns(good.length)} ${dryRun ? `can be ${VERBS[action].done}` : VERBS[action].done}`,
    ...(pending.length > 0 ? [`${pending.length} pending`] : []),
    ...(refused.length > 0 ? [`${refused.length} refused`] : []),
  ];
  return (
    <>
      <p role="status" className="px-5 pt-3 text-sm font-medium">
        {sums.join(', ')}.{more && ` The filter selects more than ${runs.length} runs: repeat the action for the rest.`}
      </p>
      <ul
        aria-label="Outcome of each run"
        // A list that scrolls can be reached by keyboard.
        tabIndex={0}
        className="min-h-0 grow divide-y overflow-auto px-5 py-2 text-sm"
      >
        {[...refused, ...pending, ...good].map(({ runId, outcome, reason, newRunId }) => (
          <li key={runId} data-outcome={outcome} className="flex flex-wrap items-baseline gap-x-3 py-1.5">
            <Link href={`~/runs/${encodeURIComponent(runId)}`} className="font-mono text-xs hover:underline">
              …{runId.slice(-8)}
            </Link>
            <span>{wordOf(outcome, action)}</span>
            {reason !== undefined && <span className="text-muted-foreground">{reason}</span>}
            {newRunId !== undefined && (
              <Link href={`~/runs/${encodeURIComponent(newRunId)}`} className="underline">
                New run
              </Link>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function wordOf(outcome: BulkOutcome['outcome'], action: BulkAction): string {
  const words = { refused: 'Refused', pending: 'Pending', possible: 'Possible', done: VERBS[action].done };
  const word = words[outcome];
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function countRuns(count: number): string {
  return count === 1 ? '1 run' : `${count} runs`;
}
