import { useEffect, useEffectEvent, useState } from 'react';
import type { ProblemDetail } from '../api/problem.js';
import { retryTransient } from '../api/retry.js';
import type { Draft } from './draft.js';
import { draftProblems, type DraftProblems } from './draft-problems.js';
import { checkWorkflow } from './workflow-api.js';

/** The service's findings about an unsaved draft. */
export interface DraftFindings {
  /** Draft that the service checked. */
  draft: Draft;
  problems: readonly ProblemDetail[];
  errors: DraftProblems;
  warnings: DraftProblems;
}

/** Milliseconds after the last change before a draft is checked. */
const PAUSE_MS = 700;

/**
 * Has the service check the draft after every pause in the edits, and returns its newest findings. Returns `undefined`
 * until the service has answered, and while the draft has other numbers of nodes or edges than the checked one.
 */
export function useChecking(draft: Draft): DraftFindings | undefined {
  const [checked, setChecked] = useState<DraftFindings>();
  const look = useEffectEvent(async (signal: AbortSignal) => {
    const problems = await retryTransient(() => checkWorkflow(draft, signal), signal).catch(() => undefined);
    if (!problems || signal.aborted) return;
    const [warnings, errors] = [true, false].map((is) =>
      problems.filter(({ severity }) => (severity === 'warning') === is),
    );
    setChecked({
      draft,
      problems,
      errors: draftProblems(errors ?? [], draft),
      warnings: draftProblems(warnings ?? [], draft),
    });
  });
  useEffect(() => {
    // An empty canvas is not an error.
    if (draft.nodes.length === 0) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => void look(stop.signal), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [draft]);
  return checked && isLike(checked.draft, draft) ? checked : undefined;
}

/**
 * True if two drafts have the same numbers of nodes and edges. Findings about one draft then fit the other, since they
 * name nodes and edges by index.
 */
function isLike(one: Draft, other: Draft): boolean {
  return one.nodes.length === other.nodes.length && one.edges.length === other.edges.length;
}
