import type { Schemas } from '#libs/client';
import { useEffect, useEffectEvent, useState } from 'react';
import { callApi } from '../api/http.js';
import { ApiProblem } from '../api/problem.js';
import { retryTransient } from '../api/retry.js';
import type { Draft } from './draft.js';
import { definitionOf } from './workflow-api.js';

/** A problem of a CEL expression, with its offset in the text. */
export type ExpressionFault = Pick<Schemas['WorkflowProblemView'], 'detail' | 'offset'>;

/** Milliseconds after the last key press before an expression is checked. */
const PAUSE_MS = 350;

/**
 * Returns the service's problems of a CEL expression in a draft; `undefined` until the service answers, and for an
 * empty expression.
 * @param path path of the expression: `edges[3].when`
 */
export function useExpressionCheck(expression: string, path: string, draft: Draft): ExpressionFault[] | undefined {
  const [checked, setChecked] = useState<{ expression: string; faults: ExpressionFault[] }>();
  const look = useEffectEvent(async (signal: AbortSignal) => {
    const requestCheck = (): Promise<ExpressionFault[]> => checkExpression(expression, path, draft, signal);
    const faults = await retryTransient(requestCheck, signal).catch(() => undefined);
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
    return (await callApi<Schemas['ExpressionProblems']>('POST', '/api/expressions/check', { body, signal })).problems;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 422) return [...error.errors];
    throw error;
  }
}
