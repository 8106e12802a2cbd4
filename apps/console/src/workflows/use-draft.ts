import { useCallback, useState } from 'react';
import type { Draft } from './draft.js';
import { recordChange, historyOf, redoChange, undoChange } from './history.js';
import { useLeaveQuestion } from './use-leave-question.js';

export interface DraftEditing {
  draft: Draft;
  /** Changes the draft. Consecutive changes with the same subject `about` are undone together. */
  change: (make: (draft: Draft) => Draft, about?: string) => void;
  undo: () => void;
  redo: () => void;
  canUndo: boolean;
  canRedo: boolean;
  /** True if there are unsaved changes. */
  dirty: boolean;
  /** Draft that was last saved or opened. */
  saved: Draft;
  /** Marks a draft that was sent to the service as saved. */
  markSaved: (saved: Draft) => void;
}

/** Manages a draft with undo and redo. Asks before the page is left with unsaved changes. */
export function useDraft(initial: Draft): DraftEditing {
  const [history, setHistory] = useState(() => historyOf(initial));
  const [saved, setSaved] = useState(initial);
  const dirty = history.present !== saved;
  const change = useCallback((make: (draft: Draft) => Draft, about?: string) => {
    setHistory((last) => recordChange(last, make(last.present), about));
  }, []);
  const undo = useCallback(() => setHistory(undoChange), []);
  const redo = useCallback(() => setHistory(redoChange), []);
  useLeaveQuestion(dirty);
  return {
    draft: history.present,
    change,
    undo,
    redo,
    canUndo: history.past.length > 0,
    canRedo: history.future.length > 0,
    dirty,
    saved,
    markSaved: setSaved,
  };
}
