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
}

interface Fault {
  error: unknown;
  problems: DraftProblems;
  /** The draft that was refused; problems of another one are no longer true of its nodes' order. */
  draft: Draft;
}

export function useSaving({ draft, markSaved }: DraftEditing, isNew: boolean): Saving {
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const save = async (): Promise<boolean> => {
    setBusy(true);
    try {
      await saveWorkflow(draft, isNew);
      setFault(undefined);
      markSaved(draft);
      if (isNew) navigate(`/edit/${encodeURIComponent(draft.name)}`, { replace: true });
      return true;
    } catch (error) {
      const errors = error instanceof ApiProblem ? error.errors : [];
      setFault({ error, problems: draftProblems(errors, draft), draft });
      return false;
    } finally {
      setBusy(false);
    }
  };
  const holds = fault && fault.draft.nodes.length === draft.nodes.length;
  return { save, busy, error: fault?.error, problems: holds ? fault.problems : NO_PROBLEMS };
}
