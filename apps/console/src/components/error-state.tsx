import { TriangleAlert } from 'lucide-react';
import { ApiProblem, isForbidden, sentenceOf } from '../api/problem.js';
import { changeKey, isSignedIn } from '../api/sign-in.js';
import { Button } from './button.js';
import { TraceId } from './trace-id.js';

interface ErrorStateProps {
  error: unknown;
  onRetry?: () => void;
}

/** Shows an error in plain words, and what the person can do about it. */
export function ErrorState({ error, onRetry }: ErrorStateProps) {
  return (
    <div
      role="alert"
      className="m-4 flex flex-wrap items-center gap-3 rounded-md border border-destructive/50 bg-destructive/5 p-4"
    >
      <TriangleAlert className="size-5 shrink-0 text-destructive" aria-hidden />
      <p className="min-w-0 grow text-sm break-words">{sentenceOf(error)}</p>
      {error instanceof ApiProblem && error.traceId !== undefined && <TraceId id={error.traceId} />}
      {isForbidden(error) && isSignedIn() && <Button onClick={() => void changeKey()}>Use another key</Button>}
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
