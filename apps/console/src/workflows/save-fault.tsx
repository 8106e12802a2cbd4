import { TriangleAlert } from 'lucide-react';
import { sentenceOf } from '../api/problem.js';
import type { Draft } from './draft.js';
import type { Saving } from './use-saving.js';

interface SaveFaultProps {
  saving: Saving;
  draft: Draft;
  onSelect: (id: string) => void;
}

/** Why the service did not take the workflow: each problem leads to the node that it is about. */
export function SaveFault({ saving: { error, problems }, draft, onSelect }: SaveFaultProps) {
  if (error === undefined) return null;
  const ofNodes = [...problems.nodes].flatMap(([index, sentences]) =>
    sentences.map((sentence) => ({ id: draft.nodes[index]?.id ?? '', sentence })),
  );
  const others = [...problems.rest, ...[...problems.edges.values()].flat()];
  const sorted = ofNodes.length + others.length > 0;
  return (
    <div role="alert" className="flex gap-3 border-b border-destructive/50 bg-destructive/5 px-4 py-2 text-sm">
      <TriangleAlert className="mt-0.5 size-4 shrink-0 text-destructive" aria-hidden />
      <div className="min-w-0">
        <p className="font-medium">{sorted ? 'The workflow was not saved:' : sentenceOf(error)}</p>
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
    </div>
  );
}
