import { useEffect, useEffectEvent, useState } from 'react';
import { call } from '../api/http.js';
import { ApiProblem } from '../api/problem.js';
import { retryTransient } from '../api/retry.js';
import type { Draft } from './draft.js';
import { definitionOf } from './workflow-api.js';

/** One thing that is wrong with an expression. */
export interface ExpressionFault {
  detail: string;
  /** Where in its text, in UTF-16 code units. */
  offset?: number;
}

/** Milliseconds after the last key before an expression is checked. */
const PAUSE_MS = 350;

/**
 * Returns what is wrong with an expression at a place of a draft, as the service says it; `undefined` until the service answers, and
 * for no expression.
 * @param path where it stands: `edges[3].when`
 */
export function useExpressionCheck(expression: string, path: string, draft: Draft): ExpressionFault[] | undefined {
  const [checked, setChecked] = useState<{ expression: string; faults: ExpressionFault[] }>();
  const look = useEffectEvent(async (signal: AbortSignal) => {
    const check = (): Promise<ExpressionFault[]> => checkExpression(expression, path, draft, signal);
    const faults = await retryTransient(check, signal).catch(() => undefined);
    if (faults && !signal.aborted) setChecked({ expression, faults });
  });
  useEffect(() => {
    if (expression.trim() === '') return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => void look(stop.signal), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [expression, path]);
  return checked?.expression === expression ? checked.faults : undefined;
}

async function checkExpression(
  expression: string,
  path: string,
  draft: Draft,
  signal: AbortSignal,
): Promise<ExpressionFault[]> {
  const body = { expression, path, definition: definitionOf(draft) };
  try {
    return (await call<{ problems: ExpressionFault[] }>('POST', '/api/expressions/check', { body, signal })).problems;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 422) return [...error.errors];
    throw error;
  }
}

/** The line of a text that a place is in, and a mark under it. */
export function placeIn(text: string, offset: number): { line: string; column: number } {
  const at = Math.max(0, Math.min(offset, text.length));
  const begin = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  return { line: text.slice(begin, end < 0 ? undefined : end), column: at - begin };
}
