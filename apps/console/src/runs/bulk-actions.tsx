import { CircleStop, RotateCcw, X } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../components/button.js';
import type { BulkAction, BulkSelection } from './bulk-api.js';
import { BulkDialog } from './bulk-dialog.js';

interface BulkActionsProps {
  /** Ids of the selected runs. */
  ids: readonly string[];
  /** Returns the filter of the API for all runs of the list; `undefined` if the list has no filter. */
  queryOf: (() => URLSearchParams) | undefined;
  onClear: () => void;
}

/** Shows the actions on the selected runs, or on all that the filter selects. */
export function BulkActions({ ids, queryOf, onClear }: BulkActionsProps) {
  const [isAll, setAll] = useState(false);
  const [asked, setAsked] = useState<{ action: BulkAction; selection: BulkSelection }>();
  const askFor = (action: BulkAction): void =>
    setAsked({ action, selection: isAll && queryOf ? { query: queryOf() } : { ids } });
  return (
    <div
      role="toolbar"
      aria-label="Selected runs"
      className="flex shrink-0 flex-wrap items-center gap-2 border-b bg-primary/5 px-4 py-2 text-sm"
    >
      <span role="status">{isAll && queryOf ? 'All runs of the filter' : `${ids.length} selected`}</span>
      {queryOf && (
        <Button kind="quiet" aria-pressed={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? 'Only the selected ones' : 'All runs of the filter'}
        </Button>
      )}
      <Button kind="danger" onClick={() => askFor('cancel')}>
        <CircleStop className="size-4" aria-hidden /> Cancel …
      </Button>
      <Button onClick={() => askFor('rerun')}>
        <RotateCcw className="size-4" aria-hidden /> Run again …
      </Button>
      <Button onClick={() => askFor('rerun-failed')}>Run again what failed …</Button>
      <Button kind="quiet" onClick={onClear}>
        <X className="size-4" aria-hidden /> End selection
      </Button>
      {asked && <BulkDialog {...asked} onClose={() => setAsked(undefined)} />}
    </div>
  );
}
