import { useState } from 'react';
import { useLocation } from 'wouter';
import { ApiProblem } from '../api/problem.js';
import type { Draft } from './draft.js';
import { draftProblems, type DraftProblems, NO_PROBLEMS } from './draft-problems.js';
import type { DraftEditing } from './use-draft.js';
import { saveWorkflow } from './workflow-api.js';

export interface Saving {
  /** Saves the draft. @returns whether the service took it */
  save: () => Promise<boolean>;
  busy: boolean;
  /** What the last save was refused for, where that is still so. */
  error: unknown;
  problems: DraftProblems;
  /** What its author is told of the workflow that was saved last. */
  warnings: DraftProblems;
}

interface Finding {
  problems: DraftProblems;
  /** The draft that they are of; they are not true of another one's order of nodes. */
  draft: Draft;
}

interface Fault extends Finding {
  error: unknown;
}

export function useSaving({ draft, markSaved }: DraftEditing, isNew: boolean): Saving {
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const [notes, setNotes] = useState<Finding>();
  const save = async (): Promise<boolean> => {
    setBusy(true);
    try {
      const { problems = [] } = await saveWorkflow(draft, isNew);
      setFault(undefined);
      setNotes({ problems: draftProblems(problems, draft), draft });
      markSaved(draft);
      if (isNew) navigate(`/edit/${encodeURIComponent(draft.name)}`, { replace: true });
      return true;
    } catch (error) {
      const errors = error instanceof ApiProblem ? error.errors : [];
      setFault({ error, problems: draftProblems(errors, draft), draft });
      setNotes(undefined);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const [problems, warnings] = [fault, notes].map((it) => (it && isOf(it, draft) ? it.problems : NO_PROBLEMS));
  return { save, busy, error: fault?.error, problems: problems ?? NO_PROBLEMS, warnings: warnings ?? NO_PROBLEMS };
}

function isOf(finding: Finding, draft: Draft): boolean {
  return finding.draft.nodes.length === draft.nodes.length;
}
