import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../components/button.js';
import type { Draft } from './draft.js';
import { countProblems, type DraftProblems } from './draft-problems.js';
import type { DraftFindings } from './use-checking.js';
import type { Selection } from './use-selection.js';

interface ProblemListProps {
  checked: DraftFindings | undefined;
  draft: Draft;
  selection: Selection;
  /** True while the page shows another list of problems instead. */
  hidden: boolean;
}

/** Shows the number of problems of the current draft, and on request their list. */
export function ProblemList({ checked, draft, selection, hidden }: ProblemListProps) {
  const [open, setOpen] = useState(false);
  const errors = checked ? countProblems(checked.errors) : 0;
  const warnings = checked ? countProblems(checked.warnings) : 0;
  if (!checked || hidden || errors + warnings === 0) return null;
  return (
    <section
      aria-label="Problems"
      className="absolute bottom-3 left-14 z-10 max-h-[60%] max-w-[min(32rem,80%)] overflow-y-auto rounded-md border bg-card shadow-lg"
    >
      <Button
        kind="quiet"
        aria-expanded={open}
        className={errors > 0 ? 'text-destructive!' : 'text-warning!'}
        onClick={() => setOpen(!open)}
      >
        <TriangleAlert className="size-4" aria-hidden />
        {[formatCount(errors, 'error'), formatCount(warnings, 'warning')].filter((it) => it !== '').join(', ')}
      </Button>
      {open && (
        <div className="space-y-2 border-t p-3 text-sm">
          {[checked.errors, checked.warnings].map((problems, index) => (
            <Problems key={index} problems={problems} draft={draft} selection={selection} />
          ))}
        </div>
      )}
    </section>
  );
}

interface ProblemsProps {
  problems: DraftProblems;
  draft: Draft;
  selection: Selection;
}

/** Shows problems; each links to its node or edge. */
export function Problems({ problems, draft, selection }: ProblemsProps) {
  const ofNodes = [...problems.nodes].flatMap(([index, sentences]) =>
    sentences.map((sentence) => ({ id: draft.nodes[index]?.id ?? '', sentence })),
  );
  const ofEdges = [...problems.edges].flatMap(([id, sentences]) => sentences.map((sentence) => ({ id, sentence })));
  return (
    <ul>
      {problems.rest.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
      {[...problems.fields].flatMap(([field, sentences]) =>
        sentences.map((sentence) => (
          <li key={`${field} ${sentence}`}>
            <button type="button" className="text-left underline" onClick={() => selection.selectField(field)}>
              {sentence}
            </button>
          </li>
        )),
      )}
      {ofEdges.map(({ id, sentence }) => (
        <li key={`${id} ${sentence}`}>
          <button type="button" className="text-left underline" onClick={() => selection.selectEdge(id)}>
            {sentence}
          </button>
        </li>
      ))}
      {ofNodes.map(({ id, sentence }) => (
        <li key={`${id} ${sentence}`}>
          <button type="button" className="text-left underline" onClick={() => selection.selectNode(id)}>
            {sentence}
          </button>
        </li>
      ))}
    </ul>
  );
}

function formatCount(count: number, word: string): string {
  return count === 0 ? '' : `${count} ${word}${count === 1 ? '' : 's'}`;
}
