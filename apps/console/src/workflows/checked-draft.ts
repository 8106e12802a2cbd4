import { createContext, useContext, useMemo } from 'react';
import type { ProblemDetail } from '../api/problem.js';
import type { CodeMark } from '../code/code.js';

/**
 * Problems that the service finds in the draft on the canvas; `undefined` until the service has checked the current
 * draft.
 */
export const CheckedDraft = createContext<readonly ProblemDetail[] | undefined>(undefined);

/**
 * Returns the marks of a text in the draft.
 * @param path path of the text: `nodes[2].config.prompt`
 */
export function useTextMarks(path: string): readonly CodeMark[] | undefined {
  const problems = useContext(CheckedDraft);
  return useMemo(() => problems && marksAt(problems, path), [problems, path]);
}

/** Returns the problems of a text as marks. Problems without a place in the text are left out. */
export function marksAt(problems: readonly ProblemDetail[], path: string): CodeMark[] {
  return problems.flatMap(({ path: at, detail, offset, severity }) =>
    at === path && offset !== undefined
      ? [{ offset, detail, severity: severity === 'warning' ? 'warning' : 'error' }]
      : [],
  );
}
