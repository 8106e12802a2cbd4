import { useState } from 'react';
import { useLocation } from 'wouter';
import { ApiProblem } from '../api/problem.js';
import type { Draft } from './draft.js';
import { draftProblems, type DraftProblems, NO_PROBLEMS, type WorkflowField } from './draft-problems.js';
import type { DraftEditing } from './use-draft.js';
import { saveWorkflow } from './workflow-api.js';

export interface Saving {
  /** Saves the draft. Resolves with true if the service accepted it. */
  save: () => Promise<boolean>;
  /** Saves the draft even if the workflow was saved or deleted elsewhere. */
  saveOver: () => Promise<boolean>;
  busy: boolean;
  /** True once a save was accepted. */
  hasSaved: boolean;
  /** True if the save was rejected because the workflow was saved or deleted elsewhere since it was opened. */
  conflict: boolean;
  /** Error of the last save, until the draft changes. */
  error: unknown;
  problems: DraftProblems;
  /** Warnings about the workflow that was saved last. */
  warnings: DraftProblems;
}

interface Finding {
  problems: DraftProblems;
  /** Draft that the problems describe. They name nodes and edges by index, so they fit no other draft. */
  draft: Draft;
}

interface Fault extends Finding {
  error: unknown;
}

interface SavingOptions {
  /** Revision being edited; `undefined` for a new workflow. */
  opened: string | undefined;
  /** Called with the first setting of the workflow that has a problem, when a save is rejected. */
  onRejected: (field: WorkflowField) => void;
}

/** Saves a draft and tracks the outcome of the save. */
export function useSaving({ draft, markSaved }: DraftEditing, { opened, onRejected }: SavingOptions): Saving {
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const [notes, setNotes] = useState<Finding>();
  const [revision, setRevision] = useState(opened);
  const saveOver = async (over: string | undefined): Promise<boolean> => {
    setBusy(true);
    try {
      const { problems = [], revision: saved } = await saveWorkflow(draft, over);
      setFault(undefined);
      setNotes({ problems: draftProblems(problems, draft), draft });
      markSaved(draft);
      setRevision(saved);
      if (over === undefined) navigate(`/edit/${encodeURIComponent(draft.name)}`, { replace: true });
      return true;
    } catch (error) {
      const problems = rejectionProblems(error, draft);
      setFault({ error, problems, draft });
      setNotes(undefined);
      const [field] = problems.fields.keys();
      if (field !== undefined) onRejected(field);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const [problems, warnings] = [fault, notes].map((it) => (it && isOf(it, draft) ? it.problems : NO_PROBLEMS));
  const error = fault?.draft === draft ? fault.error : undefined;
  return {
    save: () => saveOver(revision),
    saveOver: () => saveOver('*'),
    busy,
    hasSaved: notes !== undefined,
    conflict: error instanceof ApiProblem && error.status === 412,
    error,
    problems: problems ?? NO_PROBLEMS,
    warnings: warnings ?? NO_PROBLEMS,
  };
}

/** Returns the problems that a rejected save names. */
function rejectionProblems(error: unknown, draft: Draft): DraftProblems {
  if (!(error instanceof ApiProblem)) return NO_PROBLEMS;
  // Another workflow has the name.
  if (error.status === 409) return draftProblems([{ path: 'name', detail: error.message }], draft);
  return draftProblems(error.errors, draft);
}

function isOf(finding: Finding, draft: Draft): boolean {
  return finding.draft.nodes.length === draft.nodes.length;
}
