import { createContext, useContext, useMemo } from 'react';
import type { ProblemDetail } from '../api/problem.js';
import type { CodeMark } from '../code/code.js';

/**
 * Problems that the service finds in the draft on the canvas; `undefined` until the service has checked the current
 * draft.
 */
export const CheckedDraft = createContext<readonly ProblemDetail[] | undefined>(undefined);

/**
 * Returns the problems that the service found in a text of the draft, as marks for the text's field; `undefined` until
 * the service has checked the current draft.
 * @param path path of the text: `nodes[2].config.prompt`
 */
export function useTextMarks(path: string): readonly CodeMark[] | undefined {
  const problems = useContext(CheckedDraft);
  return useMemo(() => problems && marksAt(problems, path), [problems, path]);
}

/** Converts the problems at `path` that have an offset in the text to marks. All other problems are left out. */
export function marksAt(problems: readonly ProblemDetail[], path: string): CodeMark[] {
  return problems.flatMap(({ path: at, detail, offset, severity }) =>
    at === path && offset !== undefined
      ? [{ offset, detail, severity: severity === 'warning' ? 'warning' : 'error' }]
      : [],
  );
}
