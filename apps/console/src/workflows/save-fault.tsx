import { TriangleAlert } from 'lucide-react';
import { sentenceOf } from '../api/problem.js';
import type { Draft } from './draft.js';
import { countOf, type DraftProblems } from './draft-problems.js';
import { Problems } from './problem-list.js';
import type { Saving } from './use-saving.js';
import type { Selection } from './use-selection.js';

interface SaveFaultProps {
  saving: Saving;
  draft: Draft;
  selection: Selection;
}

/** Why the service did not take the workflow, or what it says of the one that it took. */
export function SaveFault({ saving: { error, problems, warnings }, draft, selection }: SaveFaultProps) {
  if (error !== undefined) {
    const title = countOf(problems) === 0 ? sentenceOf(error) : 'The workflow was not saved:';
    return (
      <div role="alert" className="flex gap-3 border-b border-destructive/50 bg-destructive/5 px-4 py-2 text-sm">
        <TriangleAlert className="mt-0.5 size-4 shrink-0 text-destructive" aria-hidden />
        <TitledProblems title={title} problems={problems} draft={draft} selection={selection} />
      </div>
    );
  }
  if (countOf(warnings) === 0) return null;
  return (
    <div role="status" className="flex gap-3 border-b border-warning/50 bg-warning/5 px-4 py-2 text-sm">
      <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warning" aria-hidden />
      <TitledProblems
        title="The workflow was saved. Is this meant?"
        problems={warnings}
        draft={draft}
        selection={selection}
      />
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
