import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { newId } from './new-id.js';
import { ApiProblem, type ProblemDetail, sentenceOf } from './problem.js';

export interface Action {
  pending: boolean;
  /** Error of the last attempt as a sentence; `undefined` if the attempt did not fail. */
  error: string | undefined;
  /** Returns the service's error for a field of the request, by the field's path. */
  errorAt: (path: string) => string | undefined;
  /** Returns the error of a field that is a list, or of its first wrong entry; `undefined` if there is none. */
  errorIn: (path: string) => string | undefined;
  /** Runs `work`; a call while another is pending does nothing. Never rejects. */
  run: (work: () => Promise<unknown>) => Promise<void>;
}

/** Tracks an action that a person starts: whether it is pending, and its error. */
export function useAction(): Action {
  const mutation = useMutation({ mutationFn: (work: () => Promise<unknown>) => work() });
  const { isPending: pending, error: failure } = mutation;
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    if (!pending) await mutation.mutateAsync(work).catch(() => undefined);
  };
  const fields = failure instanceof ApiProblem ? failure.errors : [];
  return {
    pending,
    run,
    error: failure === null ? undefined : sentenceOf(failure),
    errorAt: (path) => fields.find((field) => field.path === path)?.detail,
    errorIn: (path) => errorIn(fields, path),
  };
}

function errorIn(fields: readonly ProblemDetail[], list: string): string | undefined {
  const wrong = fields.find(({ path }) => path === list || path.startsWith(`${list}[`));
  const place = /\[(\d+)\]/.exec(wrong?.path.slice(list.length) ?? '')?.[1];
  return place === undefined ? wrong?.detail : `Entry ${Number(place) + 1} ${wrong?.detail}`;
}

/**
 * Returns a function that returns an `Idempotency-Key` for a request body. Equal bodies get the same key, so a retry
 * takes effect once.
 */
export function useAttemptKey(): (body: unknown) => string {
  const [keys] = useState(() => new Map<string, string>());
  return (body) => {
    const text = JSON.stringify(body);
    const key = keys.get(text) ?? newId();
    keys.set(text, key);
    return key;
  };
}
