import type { WorkflowFailure } from './failure.js';
import type { RunError } from './node-run.js';

/**
 * Returns a failure for the API, which always has a kind. It is `failed` if the log names none: in logs from before
 * failures had kinds, and if a run was ended from outside.
 */
export function shownFailure(error: RunError): WorkflowFailure {
  return { kind: 'failed', ...error };
}
