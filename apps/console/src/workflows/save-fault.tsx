import { TriangleAlert } from 'lucide-react';
import { sentenceOf } from '../api/problem.js';
import type { Draft } from './draft.js';
import type { DraftProblems } from './draft-problems.js';
import type { Saving } from './use-saving.js';

interface SaveFaultProps {
  saving: Saving;
  draft: Draft;
  onSelect: (id: string) => void;
}

/** Why the service did not take the workflow, or what it says of the one that it took. */
export function SaveFault({ saving: { error, problems, warnings }, draft, onSelect }: SaveFaultProps) {
  if (error !== undefined) {
    const title = isEmpty(problems) ? sentenceOf(error) : 'The workflow was not saved:';
    return (
      <div role="alert" className="flex gap-3 border-b border-destructive/50 bg-destructive/5 px-4 py-2 text-sm">
        <TriangleAlert className="mt-0.5 size-4 shrink-0 text-destructive" aria-hidden />
        <ProblemList title={title} problems={problems} draft={draft} onSelect={onSelect} />
      </div>
    );
  }
  if (isEmpty(warnings)) return null;
  return (
    <div role="status" className="flex gap-3 border-b border-warning/50 bg-warning/5 px-4 py-2 text-sm">
      <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warning" aria-hidden />
      <ProblemList
        title="The workflow was saved. Is this meant?"
        problems={warnings}
        draft={draft}
        onSelect={onSelect}
      />
    </div>
  );
}

interface ProblemListProps {
  title: string;
  problems: DraftProblems;
  draft: Draft;
  onSelect: (id: string) => void;
}

/** Each problem leads to the node that it is about. */
function ProblemList({ title, problems, draft, onSelect }: ProblemListProps) {
  const ofNodes = [...problems.nodes].flatMap(([index, sentences]) =>
    sentences.map((sentence) => ({ id: draft.nodes[index]?.id ?? '', sentence })),
  );
  const others = [...problems.rest, ...[...problems.edges.values()].flat()];
  return (
    <div className="min-w-0">
      <p className="font-medium">{title}</p>
      <ul>
        {others.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
        {ofNodes.map(({ id, sentence }) => (
          <li key={`${id} ${sentence}`}>
            <button type="button" className="text-left underline" onClick={() => onSelect(id)}>
              {sentence}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function isEmpty({ nodes, edges, rest }: DraftProblems): boolean {
  return nodes.size + edges.size + rest.length === 0;
}
