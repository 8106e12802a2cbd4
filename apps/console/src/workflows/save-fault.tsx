import { TriangleAlert } from 'lucide-react';
import { sentenceOf } from '../api/problem.js';
import type { Draft } from './draft.js';
import { countProblems, type DraftProblems } from './draft-problems.js';
import { Problems } from './problem-list.js';
import { Button, buttonClass } from '../components/button.js';
import type { Saving } from './use-saving.js';
import type { Selection } from './use-selection.js';

interface SaveFaultProps {
  saving: Saving;
  draft: Draft;
  selection: Selection;
}

/** Shows the errors of a rejected save, or the warnings of a successful one. */
export function SaveFault({ saving, draft, selection }: SaveFaultProps) {
  const { error, problems, warnings } = saving;
  if (saving.conflict) return <Conflict saving={saving} name={draft.name} />;
  if (error !== undefined) {
    const title = countProblems(problems) === 0 ? sentenceOf(error) : 'The workflow was not saved:';
    return (
      <div role="alert" className="flex gap-3 border-b border-destructive/50 bg-destructive/5 px-4 py-2 text-sm">
        <TriangleAlert className="mt-0.5 size-4 shrink-0 text-destructive" aria-hidden />
        <TitledProblems title={title} problems={problems} draft={draft} selection={selection} />
      </div>
    );
  }
  if (countProblems(warnings) === 0) return null;
  return (
    <div role="status" className="flex gap-3 border-b border-warning/50 bg-warning/5 px-4 py-2 text-sm">
      <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warning" aria-hidden />
      <TitledProblems
        title="The workflow was saved with warnings:"
        problems={warnings}
        draft={draft}
        selection={selection}
      />
    </div>
  );
}

/**
 * Shows that the workflow was saved or deleted in another tab or by another person after it was opened in this tab, so
 * this save was rejected. Offers the user of this tab a link to the newest revision, and a button that replaces it.
 */
function Conflict({ saving: { saveOver, busy }, name }: { saving: Saving; name: string }) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3 border-b border-destructive/50 bg-destructive/5 px-4 py-2 text-sm"
    >
      <TriangleAlert className="size-4 shrink-0 text-destructive" aria-hidden />
      <p className="min-w-0 grow font-medium">This workflow was saved or deleted elsewhere since it was opened here.</p>
      <a
        href={`/workflows/edit/${encodeURIComponent(name)}`}
        target="_blank"
        rel="noreferrer"
        className={buttonClass()}
      >
        Look at it in another tab
      </a>
      <Button kind="danger" disabled={busy} onClick={() => void saveOver()}>
        Save over it
      </Button>
    </div>
  );
}

interface TitledProblemsProps {
  title: string;
  problems: DraftProblems;
  draft: Draft;
  selection: Selection;
}

function TitledProblems({ title, ...rest }: TitledProblemsProps) {
  return (
    <div className="min-w-0">
      <p className="font-medium">{title}</p>
      <Problems {...rest} />
    </div>
  );
}
