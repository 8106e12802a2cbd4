import { useState } from 'react';
import { ApiProblem, type FieldProblem, sentenceOf } from './problem.js';

export interface Action {
  pending: boolean;
  /** Why the last attempt failed, in a sentence. */
  error: string | undefined;
  /** What the service found wrong with a field of the request. */
  errorAt: (path: string) => string | undefined;
  /** The same of a field that is a list, or of the first of its entries that is wrong. */
  errorIn: (path: string) => string | undefined;
  /** Does something; a second call while the first is under way does nothing. Never rejects. */
  run: (work: () => Promise<unknown>) => Promise<void>;
}

/** Something that a person asks for with a button, and what came of it. */
export function useAction(): Action {
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    if (pending) return;
    setPending(true);
    setFailure(undefined);
    await work().catch(setFailure);
    setPending(false);
  };
  const fields = failure instanceof ApiProblem ? failure.errors : [];
  return {
    pending,
    run,
    error: failure === undefined ? undefined : sentenceOf(failure),
    errorAt: (path) => fields.find((field) => field.path === path)?.detail,
    errorIn: (path) => errorIn(fields, path),
  };
}

function errorIn(fields: readonly FieldProblem[], list: string): string | undefined {
  const wrong = fields.find(({ path }) => path === list || path.startsWith(`${list}[`));
  const place = /\[(\d+)\]/.exec(wrong?.path.slice(list.length) ?? '')?.[1];
  return place === undefined ? wrong?.detail : `Entry ${Number(place) + 1} ${wrong?.detail}`;
}
